// The one source of chance in a simulation.
#ifndef BERTH_TESTS_SIMULATION_DICE_H_
#define BERTH_TESTS_SIMULATION_DICE_H_

#include <cstddef>
#include <cstdint>

namespace berth::host {

inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;
inline constexpr int64_t kMinute = 60 * kSecond;

// A seeded stream of numbers (SplitMix64): equal seeds, equal streams, whatever the standard
// library.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }
  // In [0, n). REQUIRES: n > 0.
  size_t Below(size_t n) { return static_cast<size_t>(Next() % n); }
  // In [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(size_t n) { return Below(n) == 0; }
  bool Percent(uint32_t percent) { return Below(100) < percent; }
  // Of several orders of magnitude: as often below a second as between one and many.
  int64_t Delay(int64_t max_ns) {
    if (max_ns <= 0) return 0;
    return Between(0, max_ns) >> Below(16);
  }
  // REQUIRES: there is one.
  template <class Container>
  const auto& OneOf(const Container& all) {
    return *std::next(all.begin(), static_cast<std::ptrdiff_t>(Below(all.size())));
  }
  // Another stream, so that what one part draws does not move the others.
  Dice Split() { return Dice(Next()); }

 private:
  uint64_t state_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_DICE_H_
