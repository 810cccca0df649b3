// Chooses between equally good nodes.
#ifndef BERTH_HOST_CYCLE_TIE_BREAKER_H_
#define BERTH_HOST_CYCLE_TIE_BREAKER_H_

#include <cstdint>

#include "host/base/split_mix.h"

namespace berth::host {

// A run can be repeated with the seed from its log.
class TieBreaker {
 public:
  explicit TieBreaker(uint64_t seed) : random_(seed) {}

  // Returns a number in [0, n). REQUIRES: n > 0.
  uint64_t Below(uint64_t n) {
    // The bias is at most n / 2^64, which is negligible for any number of nodes.
    return random_.Next() % n;
  }

 private:
  SplitMix64 random_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_TIE_BREAKER_H_
