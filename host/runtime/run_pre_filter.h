// PreFilter: what can be said of the pod before any node is looked at.
#ifndef BERTH_HOST_RUNTIME_RUN_PRE_FILTER_H_
#define BERTH_HOST_RUNTIME_RUN_PRE_FILTER_H_

#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Runs every PreFilter in order. Fills in skip_filter, the subset of nodes, and the rejection.
//
// Threading: [cycle].
// Returns:   success, also when the pod was rejected (attempt.pre_filter_rejection); an error when
//            a plugin failed, which fails the cycle.
// Rules:     UnschedulableAndUnresolvable stops at once; Unschedulable is kept while the others
//            still run; subsets are intersected, and an empty intersection rejects.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins)
PluginStatus RunPreFilter(Attempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_PRE_FILTER_H_
