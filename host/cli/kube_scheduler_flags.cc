#include "host/cli/kube_scheduler_flags.h"

#include <array>

namespace berth::host {
namespace {

constexpr std::string_view kServer =
    "set the server in a kubeconfig and use --kubeconfig; --context selects one of its contexts";
constexpr std::string_view kNoProtobuf = "Berth sends and accepts JSON";
constexpr std::string_view kRate =
    "set qps and burst in [clientConnection] of the host file; without them there is no limit";
constexpr std::string_view kElection =
    "set leaseDuration, renewDeadline, retryPeriod, resourceName and resourceNamespace in "
    "[leaderElection] of the host file";
constexpr std::string_view kNoPolicy =
    "kube-scheduler does not have it any more either: use --profile (see berth profile --help)";
constexpr std::string_view kEndpoint =
    "use --http-address: Berth serves health checks and metrics as plain HTTP on one address; it "
    "does not have TLS and authentication there yet";
constexpr std::string_view kNoProfiling = "Berth does not serve profiling data yet";
constexpr std::string_view kMetrics =
    "Berth serves all of its metrics at /metrics; use --http-address to select the address";
constexpr std::string_view kVerbose =
    "use -v for more log lines and -vv for still more; logLevel in the host file sets the same";
constexpr std::string_view kLogFormat = "use --log-format text or --log-format json";
constexpr std::string_view kLog = "Berth writes its log on standard error";
constexpr std::string_view kNoGates =
    "Berth has no feature gates: it decides as kube-scheduler 1.36 does";

struct Advice {
  std::string_view option;  // If it ends with '*', the beginning of several options.
  std::string_view advice;
};

// kube-scheduler: cmd/kube-scheduler/app/options, and options of earlier versions.
constexpr std::array kAdvice = {
    Advice{"--master", kServer},
    Advice{"--kube-api-content-type", kNoProtobuf},
    Advice{"--kube-api-*", kRate},
    Advice{"--leader-elect-*", kElection},
    Advice{"--lock-object-*", kElection},
    Advice{"--policy-config*", kNoPolicy},
    Advice{"--use-legacy-policy-config", kNoPolicy},
    Advice{"--algorithm-provider", kNoPolicy},
    Advice{"--hard-pod-affinity-symmetric-weight", kNoPolicy},
    Advice{"--scheduler-name", "set schedulerName in a profile and select it with --profile"},
    Advice{"--secure-port", kEndpoint},
    Advice{"--port", kEndpoint},
    Advice{"--bind-address", kEndpoint},
    Advice{"--address", kEndpoint},
    Advice{"--cert-dir", kEndpoint},
    Advice{"--client-ca-file", kEndpoint},
    Advice{"--tls-*", kEndpoint},
    Advice{"--requestheader-*", kEndpoint},
    Advice{"--permit-address-sharing", kEndpoint},
    Advice{"--permit-port-sharing", kEndpoint},
    Advice{"--http2-*", kEndpoint},
    Advice{"--disable-http2-serving", kEndpoint},
    Advice{"--authentication-*", kEndpoint},
    Advice{"--authorization-*", kEndpoint},
    Advice{"--profiling", kNoProfiling},
    Advice{"--contention-profiling", kNoProfiling},
    Advice{"--allow-metric-labels*", kMetrics},
    Advice{"--disabled-metrics", kMetrics},
    Advice{"--show-hidden-metrics-for-version", kMetrics},
    Advice{"--v", kVerbose},
    Advice{"--vmodule", kVerbose},
    Advice{"--logging-format", kLogFormat},
    Advice{"--logtostderr", kLog},
    Advice{"--log-*", kLog},
    Advice{"--feature-gates", kNoGates},
    Advice{"--emulated-version", kNoGates},
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
  for (const Advice& advice : kAdvice) {
    if (Matches(advice.option, option)) return advice.advice;
  }
  return "";
}

}  // namespace berth::host
