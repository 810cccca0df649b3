// The calls of one Score plugin for rows of the node table.
#ifndef BERTH_HOST_RUNTIME_POINTS_SCORE_CALL_H_
#define BERTH_HOST_RUNTIME_POINTS_SCORE_CALL_H_

#include <cstdint>
#include <vector>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// Replaces `raw` by the raw scores that the plugin of `cycle` gives to the rows, in their order.
// Threading: [cycle]; calls the plugin under [block].
// Returns:   success; an error if the plugin failed or left out a score.
PluginStatus ScoreRows(const Attempt& attempt, PluginCycle& cycle, const Selection& rows,
                       std::vector<int64_t>& raw);

// Returns whether the plugin normalizes scores in a function of its own: BERTH_NORMALIZE_CUSTOM.
bool NormalizesItself(const PlannedPlugin& plugin);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_SCORE_CALL_H_
