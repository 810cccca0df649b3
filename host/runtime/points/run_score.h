// PreScore and Score: rate how well each feasible node suits the pod.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_SCORE_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_SCORE_H_

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {

// Runs the PreScore plugins in order over the feasible nodes. Fills in skip_score.
// Threading: [cycle].
// Returns:   success; an error when a plugin returned anything but Success or Skip, which fails the
//            cycle: a pod is never unschedulable because of Score.
PluginStatus RunPreScore(Attempt& attempt);

// Scores the feasible rows with every plugin that did not skip, normalizes and weights the scores,
// and adds them up. Fills in `totals`, and `scores` if the attempt keeps them.
// Threading: [cycle]; calls plugins under [block].
// Returns:   success; an error if a plugin failed or a normalized score is outside 0..100.
PluginStatus RunScore(Attempt& attempt);

// The parts of RunScore(), for passes that reuse scores (class_scores.h).
//
// Returns whether the plugin scores the nodes in this attempt: it did not skip, and is not
// quarantined.
bool IsScored(const Attempt& attempt, const PlannedUse& use);
// Scores the feasible rows with one plugin, and adds its weighted scores to `totals`, which has one
// element for each feasible row. Appends to `scores` if the attempt keeps them.
// Returns: as RunScore().
PluginStatus AddScores(Attempt& attempt, const PlannedUse& use);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_SCORE_H_
