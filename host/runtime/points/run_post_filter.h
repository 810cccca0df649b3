// PostFilter: tries to make room for a pod that fits on no node.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_POST_FILTER_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_POST_FILTER_H_

#include <string>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/evaluation.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/points/run_pre_filter.h"

namespace berth::host {

struct PostFilterResult {
  // Success; UnschedulableAndUnresolvable as the plugin gave it; Unschedulable with the reasons of
  // all plugins and the name of the first; otherwise an error in the plugin's own words.
  PluginStatus status;
  // True if the pod's nomination changes to `node`, or is removed if `node` is empty. False if the
  // nomination does not change, as after an error. The value is that of the plugin that ended the
  // run or, if no plugin ended it, of the last plugin that set it.
  bool overrides = false;
  std::string node;
};

// Calls the PostFilter plugins in order; Success, UnschedulableAndUnresolvable and errors end the
// run. A quarantined plugin is skipped.
// REQUIRES: Filter or PreFilter rejected the pod.
// Threading: [cycle].
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPostFilterPlugins)
PostFilterResult RunPostFilter(Attempt& attempt, const PreFilterResult& pre_filter,
                               const Filtered& filtered);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_POST_FILTER_H_
