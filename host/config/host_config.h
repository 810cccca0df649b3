// The host file, berth.toml: settings of the process, as opposed to those of one profile. Keys that
// also exist in KubeSchedulerConfiguration have the same spelling.
#ifndef BERTH_HOST_CONFIG_HOST_CONFIG_H_
#define BERTH_HOST_CONFIG_HOST_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/cluster_config.h"
#include "host/config/config_errors.h"

namespace berth::host {

// The settings of the host file. Members that are nullopt or empty were not set.
//
//   profiles = ["default", "acme.toml"]   # names, and paths relative to this file
//   pluginDirs = ["/opt/acme/plugins"]    # instead of the plugins that come with Berth
//   podInitialBackoffSeconds = 1
//   podMaxBackoffSeconds = 10
//   logLevel = "info"                     # trace, debug, info, warning, error
//
//   [deadlines]                           # of plugin calls, as Go durations
//   call = "1s"
//   postFilter = "10s"
//   bind = "10m"                          # of PreBind and Bind
//
//   [quarantine]                          # of a plugin with this many faults in this time
//   faults = 10                           # 0 disables the quarantine
//   window = "1m"
//
// The tables [leaderElection], [clientConnection], [serving] and [logging]: see ClusterConfig.
struct HostConfig {
  std::vector<Placed<std::string>> profiles;  // Paths are relative to the working directory.
  std::vector<Placed<std::string>> plugin_directories;
  std::optional<int64_t> initial_backoff_ns;
  std::optional<int64_t> max_backoff_ns;
  std::optional<uint32_t> log_level;  // BERTH_LOG_*
  std::optional<int64_t> call_deadline_ns;
  std::optional<int64_t> post_filter_deadline_ns;
  std::optional<int64_t> bind_deadline_ns;
  std::optional<uint32_t> quarantine_faults;
  std::optional<int64_t> quarantine_window_ns;
  ClusterConfig cluster;
};

// Reads the text of a host file. `file` is its name in messages; paths in it are relative to the
// file's folder.
// Errors: all errors are added to `errors`, including keys of KubeSchedulerConfiguration that Berth
//         does not support. Invalid members are not set in the result.
HostConfig ReadHostConfig(std::string_view text, const std::string& file, ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_HOST_CONFIG_H_
