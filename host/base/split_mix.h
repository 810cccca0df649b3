// A small random number generator.
#ifndef BERTH_HOST_BASE_SPLIT_MIX_H_
#define BERTH_HOST_BASE_SPLIT_MIX_H_

#include <cstdint>

namespace berth::host {

// A seeded stream of numbers (SplitMix64). Equal seeds give equal streams in every process.
// Must not: be used where a number must not be guessed.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }

 private:
  uint64_t state_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SPLIT_MIX_H_
