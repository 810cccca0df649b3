// PreFilter: prepares Filter, and may reject the pod or restrict it to some nodes.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_PRE_FILTER_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_PRE_FILTER_H_

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {

// Runs the PreFilter plugins in order. Fills in skip_filter, the subset of nodes and the rejection.
//
// Threading: [cycle].
// Returns:   success, also when the pod was rejected (attempt.pre_filter_rejection); an error when
//            a plugin failed, which fails the cycle.
// Rules:     UnschedulableAndUnresolvable stops at once; after Unschedulable the other plugins
//            still run; subsets are intersected, and an empty intersection rejects the pod.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins)
PluginStatus RunPreFilter(Attempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_PRE_FILTER_H_
