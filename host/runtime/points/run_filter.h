// Filter: finds the nodes that can run the pod.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_FILTER_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_FILTER_H_

#include <vector>

#include "host/queue/nominator.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {

// Runs the Filters over `attempt.candidates`, block by block; within a block plugin by plugin, each
// over the rows that passed the previous one. A whole Filter (BERTH_FILTER_WHOLE) is called once,
// over the rows of all blocks that passed the Filters before it. Fills in `verdicts` of the
// rejected rows and `feasible`.
//
// A row with nominated pods that count against this pod (CountsAgainst) must also pass with those
// pods added, which is tried first; a rejection then is the verdict of the row. This costs a
// what-if for each such row. Pods of other schedulers are not in the nominator.
//
// Threading: [cycle]; calls plugins under [block].
// Returns:   success; an error when a plugin failed, which fails the cycle.
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunFilterPluginsWithNominatedPods)
PluginStatus RunFilter(Attempt& attempt, const Nominator& nominator);

// The parts of RunFilter() that also precede a pass with reused verdicts (class_cache.h).
//
// Returns an error if a Filter of this attempt is quarantined, before any plugin is called.
PluginStatus CheckFilters(const Attempt& attempt);
// Filters the candidates with nominated pods that count against this pod, with those pods added.
// Records the verdicts of the rows that are rejected then, and appends these rows to `rejected`,
// ascending. Returns: as RunFilter().
PluginStatus FilterNominated(Attempt& attempt, const Nominator& nominator,
                             std::vector<Row>& rejected);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_FILTER_H_
