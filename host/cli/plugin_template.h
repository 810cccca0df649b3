// The files of a new plugin, as templates: sdk/templates, held in the executable.
//
// A template is text with variables, @NAME@, and parts that are there under a condition:
//   @if Filter&!Bind Score
//   ...
//   @end
// A condition is a list of alternatives; each is a point, !point, or several of them joined by &.
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

// All of them, those of every language in the folder of its name, those for all in "common".
std::span<const PluginTemplate> PluginTemplates();

using TemplateVariables = std::map<std::string, std::string, std::less<>>;
using TemplatePoints = std::set<std::string, std::less<>>;

// The text of a template, for a plugin with these points.
// REQUIRES: conditions are closed, and every variable is in `variables`: templates are ours.
std::string RenderTemplate(std::string_view text, const TemplateVariables& variables,
                           const TemplatePoints& points);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PLUGIN_TEMPLATE_H_
