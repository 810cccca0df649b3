// The scoring strategies LeastAllocated, MostAllocated and RequestedToCapacityRatio. They map how
// full a node would be with the pod to a score.
// kube-scheduler: pkg/scheduler/framework/plugins/noderesources/{least,most}_allocated.go,
// requested_to_capacity_ratio.go; plugins/helper/shape_score.go
#ifndef BERTH_PLUGINS_NODE_RESOURCES_FIT_STRATEGY_H_
#define BERTH_PLUGINS_NODE_RESOURCES_FIT_STRATEGY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <berth/abi.h>

#include "args.h"

namespace fit {

// Returns floor(n / d). It divides doubles, which is several times faster than a division of
// integers, and exact: n and d are below 2^53, and a quotient below an integer k <= 128 is at most
// k - 1/d <= k - 2^-46. This bound is itself a double, so that rounding to the nearest double
// cannot reach k.
// REQUIRES: 0 <= n, 0 < d <= 2^46 and n / d < 128.
inline int64_t Divide(int64_t n, int64_t d) {
  return static_cast<int64_t>(static_cast<double>(n) / static_cast<double>(d));
}

// Returns floor(100 * part / whole). REQUIRES: 0 <= part <= whole and 0 < whole.
inline int64_t Percent(int64_t part, int64_t whole) {
  constexpr int64_t kExact = int64_t{1} << 46;  // 64 TiB of memory
  if (whole <= kExact) [[likely]]
    return Divide(part * 100, whole);
  // Computes with hundredths of `whole`, so that no product overflows.
  const int64_t share = whole / 100;
  const int64_t rest = whole % 100;
  int64_t percent = std::min<int64_t>(100, part / share);
  // Finds the largest percent with percent * whole / 100 <= part.
  while (percent > 0 && percent * share + (percent * rest + 99) / 100 > part) --percent;
  return percent;
}

// Sums over the resources of one node.
struct Sums {
  int64_t score = 0;
  int64_t weight = 0;
};

struct LeastAllocated {
  static void Add(int64_t used, int64_t capacity, int64_t weight, Sums& sums) {
    sums.score += weight * Percent(std::max<int64_t>(capacity - used, 0), capacity);
    sums.weight += weight;
  }
  static int64_t Combine(const Sums& sums) {
    return sums.weight == 0 ? 0 : Divide(sums.score, sums.weight);
  }
};

struct MostAllocated {
  // `used` may exceed `capacity`, because containers without requests count as 100m and 200Mi.
  static void Add(int64_t used, int64_t capacity, int64_t weight, Sums& sums) {
    sums.score += weight * Percent(std::min(used, capacity), capacity);
    sums.weight += weight;
  }
  static int64_t Combine(const Sums& sums) { return LeastAllocated::Combine(sums); }
};

// A piecewise linear function through the points of the shape. It is stored as a table, because
// utilization is a whole percentage.
class RequestedToCapacityRatio {
 public:
  explicit RequestedToCapacityRatio(const std::vector<ShapePoint>& shape) {
    for (std::size_t percent = 0; percent < scores_.size(); ++percent) {
      scores_[percent] = ScoreAt(shape, static_cast<int64_t>(percent));
    }
  }

  // A resource with score 0 is added to neither sum.
  void Add(int64_t used, int64_t capacity, int64_t weight, Sums& sums) const {
    const int64_t percent = Percent(std::min(used, capacity), capacity);
    const int64_t score = scores_[static_cast<std::size_t>(percent)];
    sums.score += weight * score;
    sums.weight += score > 0 ? weight : 0;
  }
  static int64_t Combine(const Sums& sums) {
    // Rounds to the nearest integer, halves upwards.
    return sums.weight == 0 ? 0 : Divide(2 * sums.score + sums.weight, 2 * sums.weight);
  }

 private:
  // Scores in a shape range from 0 to 10, scores of nodes from 0 to 100.
  static constexpr int64_t kScale = BERTH_SCORE_MAX / 10;

  static int64_t ScoreAt(const std::vector<ShapePoint>& shape, int64_t percent) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (percent > shape[i].utilization) continue;
      if (i == 0) return shape[0].score * kScale;
      const ShapePoint& a = shape[i - 1];
      const ShapePoint& b = shape[i];
      const int64_t rise = (b.score - a.score) * kScale;
      return a.score * kScale + rise * (percent - a.utilization) / (b.utilization - a.utilization);
    }
    return shape.empty() ? 0 : shape.back().score * kScale;
  }

  std::array<int64_t, 101> scores_;
};

}  // namespace fit

#endif  // BERTH_PLUGINS_NODE_RESOURCES_FIT_STRATEGY_H_
