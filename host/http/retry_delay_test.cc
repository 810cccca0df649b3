#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/http/pacing.h"

namespace berth::host {
namespace {

constexpr RetryDelay::Options kWithoutJitter = {.jitter = 0};

TEST(RetryDelay, DoublesUpToItsLimit) {
  RetryDelay delay(kWithoutJitter, 1);
  const int64_t expected_ms[] = {800, 1600, 3200, 6400, 12'800, 25'600, 30'000, 30'000, 30'000};
  int64_t now = 0;
  for (const int64_t ms : expected_ms) {
    const int64_t next = delay.NextNs(now);
    EXPECT_EQ(next, ms * kMillisecond);
    now += next;
  }
}

TEST(RetryDelay, JitterIsFromNoneToTheWholeDelay) {
  int64_t smallest = kHour;
  int64_t largest = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RetryDelay delay({}, seed);
    const int64_t next = delay.NextNs(0);
    ASSERT_GE(next, 800 * kMillisecond);
    ASSERT_LT(next, 1600 * kMillisecond);
    smallest = std::min(smallest, next);
    largest = std::max(largest, next);
  }
  EXPECT_LT(smallest, 820 * kMillisecond) << "the jitter uses its whole range";
  EXPECT_GT(largest, 1580 * kMillisecond) << "the jitter uses its whole range";
}

TEST(RetryDelay, JitterDoesNotAccumulate) {
  RetryDelay delay({}, 7);
  for (const int64_t ms : {800, 1600, 3200, 6400, 12'800, 25'600, 30'000, 30'000}) {
    const int64_t next = delay.NextNs(0);
    EXPECT_GE(next, ms * kMillisecond);
    EXPECT_LT(next, 2 * ms * kMillisecond);
  }
}

TEST(RetryDelay, EqualSeedsGiveEqualDelays) {
  const auto delays = [](uint64_t seed) {
    RetryDelay delay({}, seed);
    std::vector<int64_t> all;
    for (int i = 0; i < 5; ++i) all.push_back(delay.NextNs(0));
    return all;
  };
  EXPECT_EQ(delays(3), delays(3));
  EXPECT_NE(delays(3), delays(4));
}

TEST(RetryDelay, BeginsAgainAfterAQuietTime) {
  constexpr int64_t kQuiet = 2 * kMinute;
  for (const int64_t begin : {int64_t{0}, kHour}) {
    SCOPED_TRACE(begin);
    RetryDelay delay(kWithoutJitter, 1);
    EXPECT_EQ(delay.NextNs(begin), 800 * kMillisecond);
    EXPECT_EQ(delay.NextNs(begin + kQuiet), 1600 * kMillisecond);
    EXPECT_EQ(delay.NextNs(begin + 2 * kQuiet + 1), 800 * kMillisecond);
  }
}

TEST(RetryDelay, BeginsAgainAfterAReset) {
  RetryDelay delay(kWithoutJitter, 1);
  EXPECT_EQ(delay.NextNs(0), 800 * kMillisecond);
  EXPECT_EQ(delay.NextNs(0), 1600 * kMillisecond);
  delay.Reset();
  EXPECT_EQ(delay.NextNs(0), 800 * kMillisecond);
}

TEST(RetryDelay, IsNotShorterThanTheServerAsks) {
  RetryDelay delay(kWithoutJitter, 1);
  EXPECT_EQ(delay.NextNs(0, 5 * kSecond), 5 * kSecond);
  EXPECT_EQ(delay.NextNs(0, kSecond), 1600 * kMillisecond) << "the longer delay counts";
}

TEST(RetryDelay, ExceedsAMinuteOnlyByItsOwnDelays) {
  const struct {
    int64_t server_ns;
    int64_t expected_ns;
  } cases[] = {{kMinute - 1, kMinute - 1},
               {kMinute, kMinute},
               {kMinute + 1, kMinute},
               {4'294'967'295 * kSecond, kMinute},
               {INT64_MAX, kMinute}};
  for (const auto& c : cases) {
    EXPECT_EQ(LimitRetryAfterNs(c.server_ns), c.expected_ns) << c.server_ns;
    RetryDelay delay(kWithoutJitter, 1);
    EXPECT_EQ(delay.NextNs(0, c.server_ns), c.expected_ns) << c.server_ns;
    RetryDelay slow({.first_ns = kHour, .max_ns = kHour, .jitter = 0}, 1);
    EXPECT_EQ(slow.NextNs(0, c.server_ns), kHour) << c.server_ns;
  }
}

TEST(RetryDelay, FirstDelayAboveTheLimitIsTheLimit) {
  RetryDelay delay({.first_ns = kMinute, .max_ns = kSecond, .jitter = 0}, 1);
  EXPECT_EQ(delay.NextNs(0), kSecond);
  EXPECT_EQ(delay.NextNs(0), kSecond);
}

}  // namespace
}  // namespace berth::host
