// The source of random numbers in a simulation.
#ifndef BERTH_TESTS_SIMULATION_RANDOM_H_
#define BERTH_TESTS_SIMULATION_RANDOM_H_

#include <cstddef>
#include <cstdint>

#include "host/base/split_mix.h"
#include "host/base/time_units.h"

namespace berth::host {

// A seeded stream of random numbers. Equal seeds give equal streams with every standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : numbers_(seed) {}

  uint64_t Next() { return numbers_.Next(); }
  // Returns a number in [0, n). REQUIRES: n > 0.
  size_t Below(size_t n) { return static_cast<size_t>(Next() % n); }
  // Returns a number in [low, high]. REQUIRES: low <= high.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(size_t n) { return Below(n) == 0; }
  bool Percent(uint32_t percent) { return Below(100) < percent; }
  // Returns a duration of at most `max_ns`. Small durations are as likely as large ones: the result
  // varies over several orders of magnitude.
  int64_t Delay(int64_t max_ns) {
    if (max_ns <= 0) return 0;
    return Between(0, max_ns) >> Below(16);
  }
  // Returns one of the elements. REQUIRES: `all` is not empty.
  template <class Container>
  const auto& Pick(const Container& all) {
    return *std::next(all.begin(), static_cast<std::ptrdiff_t>(Below(all.size())));
  }
  // Returns an independent stream, so that the numbers that one component draws do not affect the
  // others.
  Random Split() { return Random(Next()); }

 private:
  SplitMix64 numbers_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_RANDOM_H_
