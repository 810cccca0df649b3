// Files that the executable contains.
#ifndef BERTH_HOST_CLI_EMBEDDED_FILES_H_
#define BERTH_HOST_CLI_EMBEDDED_FILES_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace berth::host {

struct EmbeddedFile {
  std::string_view path;  // In its folder: "cpp/plugin.cc.in".
  std::string_view text;
};

// Returns the files of sdk/templates: the templates of a language are in a folder with the name of
// the language, the templates for all languages are in "common".
std::span<const EmbeddedFile> PluginTemplates();

using TemplateVariables = std::map<std::string, std::string, std::less<>>;
using TemplatePoints = std::set<std::string, std::less<>>;

// Returns the text of a template for a plugin with these extension points.
//
// A template is text with variables, @NAME@, and conditional parts:
//   @if Filter&!Bind Score
//   ...
//   @end
// A condition is a list of alternatives separated by spaces. An alternative is an extension point,
// its negation !point, or several of them joined by &.
//
// REQUIRES: every condition is closed, and every variable of the template is in `variables`.
std::string RenderTemplate(std::string_view text, const TemplateVariables& variables,
                           const TemplatePoints& points);

// Returns the files of host/cli/help: the texts of `--help` around the lists of flags.
std::span<const EmbeddedFile> HelpTexts();

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_EMBEDDED_FILES_H_
