#include "host/runtime/points/normalize.h"

#include <algorithm>

#include <berth/abi.h>

namespace berth::host {
namespace {

// Raw scores may have any value, and a hundred times such a value must not overflow.
__extension__ using Wide = __int128;

template <class Int>
int64_t Clamp(Int score) {
  return static_cast<int64_t>(std::clamp<Int>(score, INT64_MIN, INT64_MAX));
}

template <class Int>
void NormalizeIn(uint32_t mode, std::span<int64_t> scores, Int low, Int high) {
  constexpr Int kMax = BERTH_SCORE_MAX;
  if (mode == BERTH_NORMALIZE_MIN_MAX_FLOAT) {
    const Int spread = high - low;
    for (int64_t& score : scores) {
      const double share = static_cast<double>(score - low) / static_cast<double>(spread);
      score = spread == 0 ? 0 : static_cast<int64_t>(double{BERTH_SCORE_MAX} * share);
    }
    return;
  }
  if (mode == BERTH_NORMALIZE_MIN_MAX) {
    const Int spread = high - low;
    for (int64_t& score : scores) {
      score = spread == 0 ? 0 : Clamp<Int>(kMax * (score - low) / spread);
    }
    return;
  }
  const bool reverse = mode == BERTH_NORMALIZE_MAX_REVERSED;
  const Int max = std::max<Int>(high, 0);
  if (max == 0) {
    if (reverse) std::ranges::fill(scores, int64_t{BERTH_SCORE_MAX});
    return;
  }
  for (int64_t& score : scores) {
    const Int share = kMax * score / max;
    score = Clamp<Int>(reverse ? kMax - share : share);
  }
}

}  // namespace

void Normalize(uint32_t mode, ScoreRange range, std::span<int64_t> scores) {
  if (mode == BERTH_NORMALIZE_NONE) return;
  constexpr int64_t kSafe = INT64_MAX / (2 * BERTH_SCORE_MAX);
  if (range.high <= kSafe && range.low >= -kSafe) {
    NormalizeIn<int64_t>(mode, scores, range.low, range.high);
  } else {
    NormalizeIn<Wide>(mode, scores, range.low, range.high);
  }
}

void Normalize(uint32_t mode, std::span<int64_t> scores) {
  if (mode == BERTH_NORMALIZE_NONE || scores.empty()) return;
  const auto [low, high] = std::ranges::minmax(scores);
  Normalize(mode, {low, high}, scores);
}

}  // namespace berth::host
