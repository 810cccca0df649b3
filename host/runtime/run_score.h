// PreScore and Score: how well each feasible node suits the pod.
#ifndef BERTH_HOST_RUNTIME_RUN_SCORE_H_
#define BERTH_HOST_RUNTIME_RUN_SCORE_H_

#include <cstdint>
#include <span>

#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Runs every PreScore in order over the feasible nodes. Fills in skip_score.
// Threading: [cycle].
// Returns:   success; an error when a plugin answered anything but Success or Skip, which fails the
//            cycle: a pod is never unschedulable because of Score.
PluginStatus RunPreScore(Attempt& attempt);

// Scores the feasible rows by every plugin that did not skip, normalises, weighs and adds up. Fills
// in `scores` and `totals`.
// Threading: [cycle]; calls plugins under [block].
// Returns:   success; an error when a plugin failed or a normalised score lies outside 0..100.
PluginStatus RunScore(Attempt& attempt);

// BERTH_NORMALIZE_*, except custom; in place. Integer division as upstream's
// (kube-scheduler: pkg/scheduler/framework/plugins/helper/normalize_score.go).
void Normalize(uint32_t mode, std::span<int64_t> scores);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_SCORE_H_
