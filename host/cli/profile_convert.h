// `berth profile convert`: a KubeSchedulerConfiguration in, profiles out.
#ifndef BERTH_HOST_CLI_PROFILE_CONVERT_H_
#define BERTH_HOST_CLI_PROFILE_CONVERT_H_

#include <string>
#include <vector>

#include "host/cli/command.h"
#include "host/config/convert/kube_plan.h"
#include "host/loader/plugin_catalog.h"

namespace berth::host {

struct ProfileConvertFlags {
  std::string file;                             // "-" is standard input.
  std::string output_directory;                 // Empty: everything goes to standard output.
  std::vector<std::string> plugin_directories;  // Empty: the default directory.
  bool force = false;                           // Existing files may be overwritten.
  bool strict = false;                          // A warning is an error.
};

int ExecuteProfileConvert(const ProfileConvertFlags& flags, CommandEnvironment& env);

// Returns the data about the plugins of `catalog` that the conversion uses.
KnownPlugins KnownPluginsOf(const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PROFILE_CONVERT_H_
