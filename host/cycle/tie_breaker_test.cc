#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "host/cycle/schedule_one.h"

namespace berth::host {
namespace {

// The numbers of SplitMix64 for seed 0, as its author published them.
TEST(TieBreakerTest, MatchesThePublishedValues) {
  TieBreaker tie_breaker(0);
  EXPECT_EQ(tie_breaker.Below(UINT64_MAX), 0xe220a8397b1dcdafU);
  EXPECT_EQ(tie_breaker.Below(UINT64_MAX), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(tie_breaker.Below(UINT64_MAX), 0x06c45d188009454fU);
  EXPECT_EQ(tie_breaker.Below(UINT64_MAX), 0xf88bb8a8724c81ecU);
}

TEST(TieBreakerTest, EqualSeedsGiveEqualStreams) {
  TieBreaker a(42);
  TieBreaker b(42);
  TieBreaker other(43);
  uint32_t different = 0;
  for (uint64_t n = 1; n < 1000; ++n) {
    const uint64_t k = a.Below(n);
    EXPECT_EQ(b.Below(n), k);
    different += other.Below(n) != k;
  }
  EXPECT_GT(different, 900U);
}

TEST(TieBreakerTest, StaysBelowItsBound) {
  TieBreaker tie_breaker(7);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(tie_breaker.Below(1), 0U);
  for (uint64_t n = 1; n < 2000; ++n) EXPECT_LT(tie_breaker.Below(n), n);
}

// Chi-squared over 7 equally likely numbers: 6 degrees of freedom stay below 22.46 in 999 of 1000
// streams, and this stream is always the same.
TEST(TieBreakerTest, AllNumbersAreEquallyLikely) {
  constexpr uint32_t kNumbers = 7;
  constexpr uint32_t kDraws = 70'000;
  TieBreaker tie_breaker(1);
  std::array<double, kNumbers> counts{};
  for (uint32_t i = 0; i < kDraws; ++i) ++counts[tie_breaker.Below(kNumbers)];
  double chi_squared = 0;
  for (const double count : counts) {
    constexpr double kExpected = double{kDraws} / kNumbers;
    chi_squared += (count - kExpected) * (count - kExpected) / kExpected;
  }
  EXPECT_LT(chi_squared, 22.46);
}

}  // namespace
}  // namespace berth::host
