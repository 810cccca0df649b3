#include "host/base/saturating.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(SaturatingTest, AddAmounts) {
  const struct {
    int64_t a;
    int64_t b;
    int64_t want;
  } cases[] = {
      {0, 0, 0},
      {1, 2, 3},
      {kMaxAmount - 1, 0, kMaxAmount - 1},
      {kMaxAmount - 2, 1, kMaxAmount - 1},
      {kMaxAmount - 1, 1, kMaxAmount},
      {kMaxAmount, 0, kMaxAmount},
      {kMaxAmount, 1, kMaxAmount},
      {kMaxAmount / 2 + 1, kMaxAmount / 2, kMaxAmount},
      {kMaxAmount / 2 + 1, kMaxAmount / 2 + 1, kMaxAmount},
      {kMaxAmount, kMaxAmount, kMaxAmount},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(AddAmounts(c.a, c.b), c.want) << c.a << " + " << c.b;
    EXPECT_EQ(AddAmounts(c.b, c.a), c.want) << c.b << " + " << c.a;
  }
}

TEST(SaturatingTest, SubtractTimes) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const struct {
    int64_t a;
    int64_t b;
    int64_t want;
  } cases[] = {
      {5, 3, 2},       {3, 5, -2},       {kMax, kMax, 0},  {kMin, kMin, 0},    {kMax, 1, kMax - 1},
      {kMax, 0, kMax}, {kMax, -1, kMax}, {0, kMin, kMax},  {-1, kMin, kMax},   {kMin, 0, kMin},
      {kMin, 1, kMin}, {-2, kMax, kMin}, {-1, kMax, kMin}, {kMin, kMax, kMin},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(SubtractTimes(c.a, c.b), c.want) << c.a << " - " << c.b;
  }
}

}  // namespace
}  // namespace berth::host
