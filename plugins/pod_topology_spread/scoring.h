// The arithmetic of scores. All sums are in double and in the order of kube-scheduler, so that the
// rounded scores are equal.
// kube-scheduler: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_SCORING_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_SCORING_H_

#include <cstdint>
#include <span>

namespace spread {

// The raw score of a node that is ignored because it lacks a topology key. Other raw scores are 0
// or more.
inline constexpr int64_t kIgnored = -1;

// Returns the weight of a constraint with this number of domains: the natural logarithm of
// domains + 2.
double WeightOf(uint64_t domains);

// Returns what a constraint adds to the raw score of a node whose domain has `count` matching pods.
inline double PartOf(int64_t count, int32_t max_skew, double weight) {
  return static_cast<double>(count) * weight + static_cast<double>(max_skew - 1);
}

// Rounds half away from zero. It makes no call, unlike std::round(). REQUIRES: 0 <= score < 2^62.
inline int64_t Round(double score) {
  const auto whole = static_cast<int64_t>(score);
  return whole + (score - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

// Replaces raw scores by 0..100, where the lowest raw score becomes the highest score. All nodes
// get 100 if every raw score is 0. Ignored nodes get 0.
void Normalize(std::span<int64_t> scores);

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_SCORING_H_
