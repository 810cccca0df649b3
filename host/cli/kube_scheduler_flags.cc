#include "host/cli/kube_scheduler_flags.h"

#include <array>

namespace berth::host {
namespace {

constexpr std::string_view kAddress =
    "use --http-address IP:PORT; Berth serves health checks and metrics over plain HTTP";
constexpr std::string_view kNoTls =
    "Berth serves plain HTTP without authentication, on loopback by default (see --http-address)";
constexpr std::string_view kNoPolicy =
    "kube-scheduler does not have it any more either: use --profile (see berth profile --help)";
constexpr std::string_view kNoProfiling = "Berth does not serve profiling data";
constexpr std::string_view kNoMetricOptions = "Berth serves all its metrics, with all their labels";
constexpr std::string_view kVerbose =
    "use -v for information, -vv for debugging or -vvv for tracing; logLevel in the host file sets "
    "the same";
constexpr std::string_view kLogIsStandardError = "Berth writes its log to standard error";
constexpr std::string_view kNoGates =
    "Berth has no feature gates: it decides as the version of --emulated-version does with its "
    "defaults";

constexpr std::string_view kLeaseName = "set resourceName in [leaderElection] of the host file";
constexpr std::string_view kLeaseNamespace =
    "set resourceNamespace in [leaderElection] of the host file";

struct Advice {
  std::string_view option;  // If it ends with '*', the beginning of several options.
  std::string_view advice;
};

// kube-scheduler: cmd/kube-scheduler/app/options, and options of earlier versions.
constexpr std::array kAdvice = {
    Advice{"--master", "use --kubeconfig; the address of the API server is that of its cluster"},
    Advice{"--kube-api-qps", "set qps in [clientConnection] of the host file"},
    Advice{"--kube-api-burst", "set burst in [clientConnection] of the host file"},
    Advice{"--kube-api-content-type", "Berth always uses JSON"},
    Advice{"--leader-elect-lease-duration",
           "set leaseDuration in [leaderElection] of the host file"},
    Advice{"--leader-elect-renew-deadline",
           "set renewDeadline in [leaderElection] of the host file"},
    Advice{"--leader-elect-retry-period", "set retryPeriod in [leaderElection] of the host file"},
    Advice{"--leader-elect-resource-lock", "Berth always uses a Lease"},
    Advice{"--leader-elect-resource-name", kLeaseName},
    Advice{"--leader-elect-resource-namespace", kLeaseNamespace},
    Advice{"--lock-object-name", kLeaseName},
    Advice{"--lock-object-namespace", kLeaseNamespace},
    Advice{"--policy-config*", kNoPolicy},
    Advice{"--use-legacy-policy-config", kNoPolicy},
    Advice{"--algorithm-provider", kNoPolicy},
    Advice{"--hard-pod-affinity-symmetric-weight", kNoPolicy},
    Advice{"--scheduler-name",
           "to schedule the pods that name it, set schedulerName in a profile; to judge them, use "
           "berth shadow"},
    Advice{"--secure-port", kAddress},
    Advice{"--port", kAddress},
    Advice{"--bind-address", kAddress},
    Advice{"--address", kAddress},
    Advice{"--cert-dir", kNoTls},
    Advice{"--client-ca-file", kNoTls},
    Advice{"--tls-*", kNoTls},
    Advice{"--requestheader-*", kNoTls},
    Advice{"--permit-address-sharing", kAddress},
    Advice{"--permit-port-sharing", kAddress},
    Advice{"--http2-*", kNoTls},
    Advice{"--disable-http2-serving", kNoTls},
    Advice{"--authentication-*", kNoTls},
    Advice{"--authorization-*", kNoTls},
    Advice{"--profiling", kNoProfiling},
    Advice{"--contention-profiling", kNoProfiling},
    Advice{"--allow-metric-labels*", kNoMetricOptions},
    Advice{"--disabled-metrics", kNoMetricOptions},
    Advice{"--show-hidden-metrics-for-version", kNoMetricOptions},
    Advice{"--v", kVerbose},
    Advice{"--vmodule", kVerbose},
    Advice{"--logging-format", "use --log-format"},
    Advice{"--logtostderr", kLogIsStandardError},
    Advice{"--log-*", kLogIsStandardError},
    Advice{"--feature-gates", kNoGates},
    Advice{"--emulation-forward-compatible", kNoGates},
    Advice{"--min-compatibility-version", kNoGates},
    Advice{"--write-config-to",
           "use berth profile show to print a profile with everything that it extends"},
    Advice{"--pod-max-in-unschedulable-pods-duration", "Berth does not have it yet"},
};

bool Matches(std::string_view pattern, std::string_view option) {
  if (!pattern.ends_with('*')) return pattern == option;
  return option.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

std::string_view KubeSchedulerAdvice(std::string_view option) {
  if (option == "--log-format") return "";  // Berth has it, and kube-scheduler does not.
  for (const Advice& advice : kAdvice) {
    if (Matches(advice.option, option)) return advice.advice;
  }
  return "";
}

}  // namespace berth::host
