#include "host/base/clock.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(RealClock, FollowsTheMonotonicClockFromBeginOn) {
  int64_t steady_ns = 5000;
  RealClock clock(1'000'000, [&steady_ns] { return steady_ns; });
  EXPECT_EQ(clock.NowNs(), 1'000'000);
  steady_ns += 100;
  EXPECT_EQ(clock.NowNs(), 1'000'000);
  clock.Begin();
  EXPECT_EQ(clock.NowNs(), 1'000'000);
  steady_ns += 7;
  EXPECT_EQ(clock.NowNs(), 1'000'007);
}

}  // namespace
}  // namespace berth::host
