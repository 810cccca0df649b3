// The normalization of raw scores by the host.
#ifndef BERTH_HOST_RUNTIME_POINTS_NORMALIZE_H_
#define BERTH_HOST_RUNTIME_POINTS_NORMALIZE_H_

#include <cstdint>
#include <span>

namespace berth::host {

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

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_NORMALIZE_H_
