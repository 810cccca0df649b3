#include "host/base/saturating.h"

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

}  // namespace
}  // namespace berth::host
