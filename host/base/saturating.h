// Arithmetic that is limited to the range of int64_t instead of wrapping around.
#ifndef BERTH_HOST_BASE_SATURATING_H_
#define BERTH_HOST_BASE_SATURATING_H_

#include <cstdint>
#include <limits>

namespace berth::host {

// The largest amount, which stands for itself and for every larger sum.
inline constexpr int64_t kMaxAmount = std::numeric_limits<int64_t>::max();

// Returns a + b, limited to kMaxAmount. REQUIRES: a and b are 0 or more.
constexpr int64_t AddAmounts(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMaxAmount : sum;
}

// Returns a - b, limited to the range of int64_t: the difference of two times, one of which may be
// the earliest or the latest time.
constexpr int64_t SubtractTimes(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SATURATING_H_
