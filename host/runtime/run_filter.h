// Filter: which nodes can run the pod.
#ifndef BERTH_HOST_RUNTIME_RUN_FILTER_H_
#define BERTH_HOST_RUNTIME_RUN_FILTER_H_

#include "host/cache/private_rows.h"
#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Runs the Filters over `attempt.candidates`, block by block: within a block plugin by plugin, each
// over the survivors of the one before. Fills in `verdicts` of the rejected rows and `feasible`.
//
// Threading: [cycle]; calls plugins under [block].
// Returns:   success; an error when a plugin failed, which fails the cycle.
PluginStatus RunFilter(Attempt& attempt);

// The verdict of row `index` of `rows`, all of which are evaluated. `state` holds one cycle per
// plugin of the plan, in its order: the attempt's own, or clones for what-if rows.
PluginStatus RunFilterOnPrivateRow(std::span<const std::unique_ptr<PluginCycle>> state,
                                   const Plan& plan, PrivateRows& rows, uint32_t index);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_FILTER_H_
