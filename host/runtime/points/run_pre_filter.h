// PreFilter: prepares Filter, and may reject the pod or restrict it to some nodes.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_PRE_FILTER_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_PRE_FILTER_H_

#include <optional>
#include <string>
#include <vector>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

struct PreFilterResult {
  // Success; a rejection of the pod on all nodes at once; Pending: the pod waits until the plugin
  // activates it; or an error of a plugin, which fails the cycle.
  PluginStatus status = {};
  // The plugins that restricted the pod to a subset of the nodes, in the order of their calls;
  // indices into Plan::plugins().
  std::vector<uint32_t> subset_plugins = {};
  // The rows that those plugins agree on; no value: all live rows. Without a row, but no rejection,
  // if they agree only on names that no node has. (kube-scheduler: PreFilterResult.Merge)
  std::optional<Selection> subset = {};

  // Returns whether Filter considers the row.
  bool Includes(Row row) const { return !subset.has_value() || subset->Contains(row); }
  // Returns the names of subset_plugins, sorted, for texts.
  std::vector<std::string> SubsetPluginNames(const Plan& plan) const;
};

// Runs the PreFilter plugins in order. Sets PluginCycle::skip_filter.
//
// Threading: [cycle].
// Rules:     UnschedulableAndUnresolvable and Pending stop at once; after Unschedulable the other
//            plugins still run; subsets are intersected, and an empty intersection rejects the pod.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins)
PreFilterResult RunPreFilter(Attempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_PRE_FILTER_H_
