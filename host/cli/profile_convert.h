// `berth profile convert`: a KubeSchedulerConfiguration in, profiles out.
#ifndef BERTH_HOST_CLI_PROFILE_CONVERT_H_
#define BERTH_HOST_CLI_PROFILE_CONVERT_H_

#include <string>
#include <vector>

#include "host/cli/command.h"
#include "host/config/convert/kube_plan.h"
#include "host/loader/plugin_catalog.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own.
class App;
}  // namespace CLI

namespace berth::host {

struct ProfileConvertFlags {
  std::string file;                             // "-" is standard input.
  std::string output_directory;                 // Empty: everything goes to standard output.
  std::vector<std::string> plugin_directories;  // Empty: the default one.
  bool force = false;                           // Files that are there may be overwritten.
  bool strict = false;                          // A warning is an error.
};

// Adds the command and its help to `profile`. Lifetime: `flags` outlives the parsing.
CLI::App* AddProfileConvert(CLI::App& profile, ProfileConvertFlags& flags);

int RunProfileConvert(const ProfileConvertFlags& flags, CommandEnvironment& env);

// What is known of the plugins of `catalog`.
KnownPlugins KnownPluginsOf(const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PROFILE_CONVERT_H_
