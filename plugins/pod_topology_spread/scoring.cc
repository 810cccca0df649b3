#include "scoring.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <berth/score.h>

namespace spread {
namespace {

struct Limits {
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = 0;
};

// Two passes of one comparison each, which the compiler turns into vector instructions.
Limits LimitsOf(std::span<const int64_t> scores) {
  Limits limits;
  for (const int64_t score : scores) limits.max = std::max(limits.max, score);
  for (const int64_t score : scores) {
    limits.min = std::min(limits.min, score == kIgnored ? limits.min : score);
  }
  return limits;
}

}  // namespace

double WeightOf(uint64_t domains) { return std::log(static_cast<double>(domains + 2)); }

void Normalize(std::span<int64_t> scores) {
  const auto [min, max] = LimitsOf(scores);
  if (max == 0) {
    for (int64_t& score : scores) score = score == kIgnored ? 0 : berth::kScoreMax;
    return;
  }
  // Doubles are divided several times faster than integers, and the result is exact: both operands
  // are below 2^53, and a quotient below an integer k <= 100 is at most k - 1 / max, which rounding
  // to the nearest double cannot raise to k.
  constexpr int64_t kExact = int64_t{1} << 45;
  const int64_t sum = max + min;
  if (max <= kExact) {
    const double divisor = static_cast<double>(max);
    for (int64_t& score : scores) {
      const double part = static_cast<double>(berth::kScoreMax * (sum - score));
      const int64_t normal = static_cast<int64_t>(part / divisor);
      score = score == kIgnored ? 0 : normal;
    }
    return;
  }
  for (int64_t& score : scores) {
    score = score == kIgnored ? 0 : berth::kScoreMax * (sum - score) / max;
  }
}

}  // namespace spread
