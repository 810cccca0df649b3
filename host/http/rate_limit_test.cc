#include <cstdint>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/http/pacing.h"

namespace berth::host {
namespace {

TEST(RateLimit, DoesNotLimitByDefault) {
  RateLimit limit(0, 0);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(limit.TakeNs(0), 0);
}

TEST(RateLimit, LetsABurstPassAndThenTheRate) {
  for (const int64_t begin : {int64_t{0}, 7 * kHour}) {
    SCOPED_TRACE(begin);
    RateLimit limit(10, 3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.TakeNs(begin), 0);
    EXPECT_EQ(limit.TakeNs(begin), 100 * kMillisecond);
    EXPECT_EQ(limit.TakeNs(begin), 200 * kMillisecond);
    // Two tokens were taken in advance: 250 ms later half a token is in the bucket.
    EXPECT_EQ(limit.TakeNs(begin + 250 * kMillisecond), 50 * kMillisecond);
  }
}

TEST(RateLimit, NeverHoldsMoreThanTheBurst) {
  RateLimit limit(10, 3);
  EXPECT_EQ(limit.TakeNs(0), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.TakeNs(kHour), 0);
  EXPECT_EQ(limit.TakeNs(kHour), 100 * kMillisecond);
}

TEST(RateLimit, HasABurstOfAtLeastOne) {
  RateLimit limit(2, 0);
  EXPECT_EQ(limit.TakeNs(0), 0);
  EXPECT_EQ(limit.TakeNs(0), 500 * kMillisecond);
  EXPECT_EQ(limit.TakeNs(kSecond), 0);
}

TEST(RateLimit, AClockThatGoesBackFillsNothing) {
  RateLimit limit(1, 1);
  EXPECT_EQ(limit.TakeNs(10 * kSecond), 0);
  EXPECT_EQ(limit.TakeNs(5 * kSecond), kSecond);
  EXPECT_EQ(limit.TakeNs(10 * kSecond), 2 * kSecond) << "the same second must not count twice";
}

TEST(RateLimit, LimitsTheWaitToTheRangeOfTime) {
  RateLimit limit(1e-300, 1);
  EXPECT_EQ(limit.TakeNs(0), 0);
  EXPECT_EQ(limit.TakeNs(0), 1'000'000'000'000'000'000);
}

TEST(RateLimit, PauseDelaysRequestsWithAndWithoutARate) {
  for (const double qps : {0.0, 10.0}) {
    SCOPED_TRACE(qps);
    RateLimit limit(qps, 1);
    limit.PauseUntil(5 * kSecond);
    limit.PauseUntil(3 * kSecond);  // A shorter pause does not end the longer one.
    EXPECT_EQ(limit.PauseLeftNs(kSecond), 4 * kSecond);
    EXPECT_EQ(limit.PauseLeftNs(5 * kSecond - 1), 1);
    EXPECT_EQ(limit.PauseLeftNs(5 * kSecond), 0);
    EXPECT_EQ(limit.PauseLeftNs(6 * kSecond), 0);
    EXPECT_EQ(limit.TakeNs(kSecond), 4 * kSecond);
    EXPECT_EQ(limit.TakeNs(5 * kSecond - 1), 1);
    EXPECT_EQ(limit.TakeNs(6 * kSecond), 0);
  }
}

TEST(RateLimit, TheLongerOfPauseAndRateCounts) {
  RateLimit limit(1, 1);
  limit.PauseUntil(1500 * kMillisecond);
  EXPECT_EQ(limit.TakeNs(0), 1500 * kMillisecond);
  EXPECT_EQ(limit.TakeNs(0), 1500 * kMillisecond);
  EXPECT_EQ(limit.TakeNs(0), 2 * kSecond);
}

}  // namespace
}  // namespace berth::host
