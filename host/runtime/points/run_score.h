// PreScore and Score: rate how well each feasible node suits the pod.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_SCORE_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_SCORE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// --- normalize -----------------------------------------------------------------------------------
//
// The normalization of raw scores by the host.

// The lowest and the highest raw score of one plugin for the feasible nodes. Together with a raw
// score, they determine the normalized score.
struct ScoreRange {
  int64_t low = 0;
  int64_t high = 0;

  bool operator==(const ScoreRange&) const = default;
};

// Normalizes scores in place. `mode`: BERTH_NORMALIZE_*, except custom. Divides integers as
// kube-scheduler does (pkg/scheduler/framework/plugins/helper/normalize_score.go), except for
// MIN_MAX_FLOAT (pkg/scheduler/framework/plugins/interpodaffinity/scoring.go).
void Normalize(uint32_t mode, std::span<int64_t> scores);

// Normalizes scores of which `range` is the range of all feasible nodes.
// REQUIRES: every score is in the range.
void Normalize(uint32_t mode, ScoreRange range, std::span<int64_t> scores);

// Runs the PreScore plugins in order over the feasible nodes. Sets PluginCycle::skip_score.
// Threading: [cycle].
// Returns:   success; Pending of the first plugin that returned it: the pod waits until the plugin
//            activates it; an error when a plugin returned anything but Success or Skip, which
//            fails the cycle: a pod is never unschedulable because of Score.
PluginStatus RunPreScore(Attempt& attempt, const Selection& feasible);

// Returns whether the plugin scores the nodes in this attempt: it did not skip, and is not
// quarantined.
bool IsScored(const Attempt& attempt, const PlannedUse& use);
// Returns whether the plugin normalizes scores in a function of its own: BERTH_NORMALIZE_CUSTOM.
bool NormalizesItself(const PlannedPlugin& plugin);

// Replaces `raw` by the raw scores that the plugin, an index into Plan::plugins(), gives to the
// rows, in their order.
// Threading: [cycle]; calls the plugin under [block].
// Returns:   success; an error if the plugin failed or left out a score.
PluginStatus ScoreRows(Attempt& attempt, uint32_t plugin, const Selection& rows,
                       std::vector<int64_t>& raw);

// Normalizes `scores`, the raw scores of one plugin for all feasible rows, and adds their weighted
// values to `totals`, in the same order.
// Threading: [cycle].
// Returns:   success; an error if the plugin failed or a normalized score is outside 0..100.
PluginStatus AddScores(Attempt& attempt, const PlannedUse& use, const Selection& feasible,
                       std::span<int64_t> scores, std::span<int64_t> totals);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_SCORE_H_
