// The host file, berth.toml: what concerns the process and not one profile. Keys that
// KubeSchedulerConfiguration has are spelled as there.
#ifndef BERTH_HOST_CONFIG_HOST_CONFIG_H_
#define BERTH_HOST_CONFIG_HOST_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/config_errors.h"

namespace berth::host {

// What is nullopt, or empty, was not said.
//
//   profiles = ["default", "acme.toml"]   # names, and files relative to this one
//   pluginDirs = ["/opt/acme/plugins"]    # instead of the plugins that come with Berth
//   podInitialBackoffSeconds = 1
//   podMaxBackoffSeconds = 10
//   logLevel = "info"                     # trace, debug, info, warning, error
//
//   [deadlines]                           # of plugins: as Go writes durations
//   call = "1s"
//   postFilter = "10s"
//   bind = "10m"                          # of PreBind and Bind
//
//   [quarantine]                          # of a plugin with so many faults in such a time
//   faults = 10                           # 0: never
//   window = "1m"
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
};

// Reads the text of a host file. `file` is what messages call it, and what paths are relative to.
// Errors: everything that is wrong, in `errors`; keys of KubeSchedulerConfiguration that have no
//         meaning here say so. What is wrong is not said in the result.
HostConfig ReadHostConfig(std::string_view text, const std::string& file, ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_HOST_CONFIG_H_
