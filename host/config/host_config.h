// The host file, berth.toml: settings of the process, as opposed to those of one profile. Keys that
// also exist in KubeSchedulerConfiguration have the same spelling.
#ifndef BERTH_HOST_CONFIG_HOST_CONFIG_H_
#define BERTH_HOST_CONFIG_HOST_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/kube_version.h>

#include "host/base/time_units.h"
#include "host/config/config_errors.h"

namespace berth::host {

// The settings of the host file that concern a real cluster. Keys that also exist in
// KubeSchedulerConfiguration have the same defaults, except qps and burst. Members that are nullopt
// were not set.
//
//   [leaderElection]
//   leaderElect = true
//   leaseDuration = "15s"                # whole seconds, because a Lease holds seconds
//   renewDeadline = "10s"
//   retryPeriod = "2s"
//   resourceLock = "leases"              # the only value
//   resourceName = "kube-scheduler"
//   resourceNamespace = "kube-system"
//   stallLimit = "2m"                    # Berth's own; "0s" disables it
//
//   [clientConnection]
//   kubeconfig = "/etc/berth/kubeconfig" # relative to this file; --kubeconfig has precedence
//   qps = 0                              # 0: no limit, which is the default
//   burst = 0                            # needs qps
//   connections = 64                     # Berth's own: for bindings, patches and deletions
//
//   [serving]
//   address = "127.0.0.1:10251"          # "" serves nothing
//
//   [logging]
//   format = "text"                      # or "json"
struct ClusterConfig {
  std::optional<bool> leader_elect;
  std::optional<int64_t> lease_ns;
  std::optional<int64_t> renew_deadline_ns;
  std::optional<int64_t> retry_ns;
  std::optional<int64_t> stall_limit_ns;  // 0 disables the limit.
  std::optional<std::string> lease_name;
  std::optional<std::string> lease_namespace;
  std::optional<std::string> kubeconfig;  // Relative to the working directory.
  std::optional<double> qps;
  std::optional<uint32_t> burst;
  std::optional<uint32_t> connections;
  std::optional<std::string> http_address;
  std::optional<std::string> log_format;

  friend bool operator==(const ClusterConfig&, const ClusterConfig&) = default;
};

// The address of health checks, metrics and /configz if the user sets none.
inline constexpr std::string_view kDefaultHttpAddress = "127.0.0.1:10251";

// The defaults of kube-scheduler for the keys of [leaderElection] that are not set.
inline constexpr int64_t kDefaultLeaseNs = 15 * kSecond;
inline constexpr int64_t kDefaultRenewDeadlineNs = 10 * kSecond;
inline constexpr int64_t kDefaultRetryNs = 2 * kSecond;

// The settings of the host file. Members that are nullopt or empty were not set.
//
//   profiles = ["default", "acme.toml"]   # names, and paths relative to this file
//   pluginDirs = ["/opt/acme/plugins"]    # instead of the plugins that come with Berth
//   podInitialBackoffSeconds = 1
//   podMaxBackoffSeconds = 10
//   emulatedVersion = "1.37"              # of Kubernetes, whose kube-scheduler Berth decides as
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
  std::optional<KubeVersion> emulated_version;
  std::optional<uint32_t> log_level;  // BERTH_LOG_*
  std::optional<int64_t> call_deadline_ns;
  std::optional<int64_t> post_filter_deadline_ns;
  std::optional<int64_t> bind_deadline_ns;
  std::optional<uint32_t> quarantine_faults;
  std::optional<int64_t> quarantine_window_ns;
  ClusterConfig cluster;
};

// Returns the version that a process with this host file decides as: the newest if it sets none.
inline KubeVersion EmulatedVersionOf(const HostConfig& config) {
  return config.emulated_version.value_or(kNewestKubeVersion);
}

// Reads the text of a host file. `file` is its name in messages; paths in it are relative to the
// file's folder.
// Errors: all errors are added to `errors`, including keys of KubeSchedulerConfiguration that Berth
//         does not support. Invalid members are not set in the result. The rule leaseDuration >
//         renewDeadline > 1.2 * retryPeriod is checked with the defaults of the keys that are not
//         set, and is reported at the key that breaks it. A value that depends on an invalid one is
//         not checked.
HostConfig ReadHostConfig(std::string_view text, const std::string& file, ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_HOST_CONFIG_H_
