// The settings of the host file that concern a real cluster. Keys that also exist in
// KubeSchedulerConfiguration have the same spelling and the same defaults, except qps and burst.
#ifndef BERTH_HOST_CONFIG_CLUSTER_CONFIG_H_
#define BERTH_HOST_CONFIG_CLUSTER_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/time_units.h"
#include "host/config/config_errors.h"
#include "host/config/table_reader.h"

namespace berth::host {

// Members that are nullopt were not set.
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

// The address of health checks and metrics if the user sets none.
inline constexpr std::string_view kDefaultHttpAddress = "127.0.0.1:10251";

// The defaults of kube-scheduler for the keys of [leaderElection] that are not set.
inline constexpr int64_t kDefaultLeaseNs = 15 * kSecond;
inline constexpr int64_t kDefaultRenewDeadlineNs = 10 * kSecond;
inline constexpr int64_t kDefaultRetryNs = 2 * kSecond;

// Reads the four tables above from the root of a host file, as ReadHostConfig() reads the others.
// `file`: the name of the host file; the path of the kubeconfig is relative to its folder.
// Errors: added to `errors`. The rule leaseDuration > renewDeadline > 1.2 * retryPeriod is checked
//         with the defaults of the keys that are not set, and is reported at the key that breaks
//         it. Invalid members are not set in the result.
ClusterConfig ReadClusterConfig(TableReader& root, const std::string& file, ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CLUSTER_CONFIG_H_
