#include "host/cli/kube_scheduler_flags.h"

#include <array>

namespace berth::host {
namespace {

constexpr std::string_view kNoServer =
    "Berth does not connect to an API server yet: use --cluster to read objects from files, and "
    "--events to follow a watch";
constexpr std::string_view kNoElection =
    "Berth does not elect a leader yet: it changes nothing outside its process";
constexpr std::string_view kNoPolicy =
    "kube-scheduler does not have it any more either: use --profile (see berth profile --help)";
constexpr std::string_view kNoEndpoint = "Berth does not serve HTTP requests yet";
constexpr std::string_view kNoMetrics = "Berth does not serve metrics yet";
constexpr std::string_view kVerbose =
    "use -v for information, -vv for debugging or -vvv for tracing; logLevel in the host file sets "
    "the same";
constexpr std::string_view kTextLog = "Berth writes log lines as text on standard error";
constexpr std::string_view kNoGates =
    "Berth has no feature gates: it decides as kube-scheduler 1.36 does";

struct Advice {
  std::string_view option;  // If it ends with '*', the beginning of several options.
  std::string_view advice;
};

// kube-scheduler: cmd/kube-scheduler/app/options, and options of earlier versions.
constexpr std::array kAdvice = {
    Advice{"--kubeconfig", kNoServer},
    Advice{"--master", kNoServer},
    Advice{"--kube-api-*", kNoServer},
    Advice{"--leader-elect*", kNoElection},
    Advice{"--lock-object-*", kNoElection},
    Advice{"--policy-config*", kNoPolicy},
    Advice{"--use-legacy-policy-config", kNoPolicy},
    Advice{"--algorithm-provider", kNoPolicy},
    Advice{"--hard-pod-affinity-symmetric-weight", kNoPolicy},
    Advice{"--scheduler-name", "set schedulerName in a profile and select it with --profile"},
    Advice{"--secure-port", kNoEndpoint},
    Advice{"--port", kNoEndpoint},
    Advice{"--bind-address", kNoEndpoint},
    Advice{"--address", kNoEndpoint},
    Advice{"--cert-dir", kNoEndpoint},
    Advice{"--client-ca-file", kNoEndpoint},
    Advice{"--tls-*", kNoEndpoint},
    Advice{"--requestheader-*", kNoEndpoint},
    Advice{"--permit-address-sharing", kNoEndpoint},
    Advice{"--permit-port-sharing", kNoEndpoint},
    Advice{"--http2-*", kNoEndpoint},
    Advice{"--disable-http2-serving", kNoEndpoint},
    Advice{"--authentication-*", kNoEndpoint},
    Advice{"--authorization-*", kNoEndpoint},
    Advice{"--profiling", kNoEndpoint},
    Advice{"--contention-profiling", kNoEndpoint},
    Advice{"--allow-metric-labels*", kNoMetrics},
    Advice{"--disabled-metrics", kNoMetrics},
    Advice{"--show-hidden-metrics-for-version", kNoMetrics},
    Advice{"--v", kVerbose},
    Advice{"--vmodule", kVerbose},
    Advice{"--logging-format", kTextLog},
    Advice{"--logtostderr", kTextLog},
    Advice{"--log-*", kTextLog},
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
