// PreScore and Score: rate how well each feasible node suits the pod.
#ifndef BERTH_HOST_RUNTIME_RUN_SCORE_H_
#define BERTH_HOST_RUNTIME_RUN_SCORE_H_

#include <cstdint>
#include <span>

#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Runs the PreScore plugins in order over the feasible nodes. Fills in skip_score.
// Threading: [cycle].
// Returns:   success; an error when a plugin returned anything but Success or Skip, which fails the
//            cycle: a pod is never unschedulable because of Score.
PluginStatus RunPreScore(Attempt& attempt);

// Scores the feasible rows with every plugin that did not skip, normalizes and weights the scores,
// and adds them up. Fills in `scores` and `totals`.
// Threading: [cycle]; calls plugins under [block].
// Returns:   success; an error if a plugin failed or a normalized score is outside 0..100.
PluginStatus RunScore(Attempt& attempt);

// Normalizes scores in place. `mode`: BERTH_NORMALIZE_*, except custom. Divides integers as
// kube-scheduler does (pkg/scheduler/framework/plugins/helper/normalize_score.go), except for
// MIN_MAX_FLOAT (pkg/scheduler/framework/plugins/interpodaffinity/scoring.go).
void Normalize(uint32_t mode, std::span<int64_t> scores);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_SCORE_H_
