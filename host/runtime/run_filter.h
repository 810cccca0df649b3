// Filter: which nodes can run the pod.
#ifndef BERTH_HOST_RUNTIME_RUN_FILTER_H_
#define BERTH_HOST_RUNTIME_RUN_FILTER_H_

#include <cstdint>
#include <span>

#include "host/cache/private_rows.h"
#include "host/queue/nominator.h"
#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Runs the Filters over `attempt.candidates`, block by block: within a block plugin by plugin, each
// over the survivors of the one before. Fills in `verdicts` of the rejected rows and `feasible`.
//
// A row whose node has nominated pods that count for this one must pass with them too, and that
// first: what rejects it then is its verdict. Costs a what-if for each such row, and nothing for
// the others. Who must not count (gated pods, those of other schedulers) is not in the nominator.
//
// Threading: [cycle]; calls plugins under [block].
// Returns:   success; an error when a plugin failed, which fails the cycle.
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunFilterPluginsWithNominatedPods)
PluginStatus RunFilter(Attempt& attempt, const Nominator& nominator);

// The verdict of row `index` of `rows`, all of which are evaluated. `cycles` holds one per plugin
// of the plan, in its order; null for one that is not asked.
// Returns: success, whatever the verdict is; an error when a plugin failed.
PluginStatus RunFilterOnPrivateRow(std::span<PluginCycle* const> cycles, const Plan& plan,
                                   PrivateRows& rows, uint32_t index, RowVerdict& verdict);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_FILTER_H_
