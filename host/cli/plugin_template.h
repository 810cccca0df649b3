// Renders the templates of a new plugin: the files of sdk/templates, embedded in the executable.
//
// A template is text with variables, @NAME@, and conditional parts:
//   @if Filter&!Bind Score
//   ...
//   @end
// A condition is a list of alternatives separated by spaces. An alternative is an extension point,
// its negation !point, or several of them joined by &.
#ifndef BERTH_HOST_CLI_PLUGIN_TEMPLATE_H_
#define BERTH_HOST_CLI_PLUGIN_TEMPLATE_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace berth::host {

struct PluginTemplate {
  std::string_view path;  // "cpp/plugin.cc.in"
  std::string_view text;
};

// Returns all templates. The templates of a language are in a folder with the name of the language,
// the templates for all languages are in "common".
std::span<const PluginTemplate> PluginTemplates();

using TemplateVariables = std::map<std::string, std::string, std::less<>>;
using TemplatePoints = std::set<std::string, std::less<>>;

// Returns the text of a template for a plugin with these extension points.
// REQUIRES: every condition is closed, and every variable of the template is in `variables`.
std::string RenderTemplate(std::string_view text, const TemplateVariables& variables,
                           const TemplatePoints& points);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PLUGIN_TEMPLATE_H_
