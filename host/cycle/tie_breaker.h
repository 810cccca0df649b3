// Chooses between equally good nodes.
#ifndef BERTH_HOST_CYCLE_TIE_BREAKER_H_
#define BERTH_HOST_CYCLE_TIE_BREAKER_H_

#include <cstdint>

namespace berth::host {

// A seeded stream of numbers (SplitMix64). Equal seeds give equal streams in every process, so that
// a run can be repeated with the seed from its log.
class TieBreaker {
 public:
  explicit TieBreaker(uint64_t seed) : state_(seed) {}

  // Returns a number in [0, n). REQUIRES: n > 0.
  uint64_t Below(uint64_t n) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    mixed ^= mixed >> 31;
    // The bias is at most n / 2^64, which is negligible for any number of nodes.
    return mixed % n;
  }

 private:
  uint64_t state_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_TIE_BREAKER_H_
