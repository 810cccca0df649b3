// The arguments of InterPodAffinity.
// kube-scheduler: pkg/scheduler/apis/config/types_pluginargs.go,
// validation/validation_pluginargs.go
#ifndef BERTH_PLUGINS_INTER_POD_AFFINITY_ARGS_H_
#define BERTH_PLUGINS_INTER_POD_AFFINITY_ARGS_H_

#include <cstdint>

#include <berth/args.h>

namespace affinity {

struct Args {
  int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;
};

inline constexpr auto kArgRows = berth::ArgRows<Args>(
    berth::Arg(
        "hardPodAffinityWeight", &Args::hard_pod_affinity_weight, berth::Range{0, 100},
        "The weight, in the score, of required affinity terms of pods on nodes that mean the "
        "pod. 0: they do not count."),
    berth::Arg("ignorePreferredTermsOfExistingPods", &Args::ignore_preferred_terms_of_existing_pods,
               "Do not score pods without preferred terms of their own."));

}  // namespace affinity

#endif  // BERTH_PLUGINS_INTER_POD_AFFINITY_ARGS_H_
