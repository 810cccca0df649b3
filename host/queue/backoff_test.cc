#include "host/queue/backoff.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kStart = 1'768'032'000 * kSecond;

QueuedEntity Entity(uint32_t rejected, uint32_t errors, int64_t queued_ns = kStart) {
  return {.rejected_count = rejected, .error_count = errors, .queued_ns = queued_ns};
}

struct DurationCase {
  const char* description;
  uint32_t rejected;
  uint32_t errors;
  int64_t seconds;
};

constexpr DurationCase kDurations[] = {
    {"no failed attempt", 0, 0, 0},
    {"the first rejection", 1, 0, 1},
    {"the second rejection", 2, 0, 2},
    {"the third rejection", 3, 0, 4},
    {"the fourth rejection", 4, 0, 8},
    {"the fifth rejection would be 16 and is limited to 10", 5, 0, 10},
    {"the sixth rejection is limited too", 6, 0, 10},
    {"the largest count that can be shifted", 63, 0, 10},
    {"a count that cannot be shifted", 64, 0, 10},
    {"the largest count", UINT32_MAX, 0, 10},
    {"the first error", 0, 1, 1},
    {"the third error in a row", 0, 3, 4},
    {"an error after rejections counts only errors", 5, 1, 1},
};

TEST(BackoffTest, DoublesUpToTheMaximum) {
  const Backoff backoff(kSecond, 10 * kSecond, true);
  for (const DurationCase& c : kDurations) {
    EXPECT_EQ(backoff.DurationNs(Entity(c.rejected, c.errors)), c.seconds * kSecond)
        << c.description;
  }
}

TEST(BackoffTest, ASlowPodWaitsLonger) {
  for (const int64_t max_ns : {int64_t{0}, 10 * kSecond}) {
    const Backoff backoff(kSecond, max_ns, true);
    QueuedEntity entity = Entity(7, 1);
    for (const int64_t seconds : {30, 60, 120, 240, 300, 300}) {
      ++entity.slow_count;
      EXPECT_EQ(backoff.DurationNs(entity), seconds * kSecond) << entity.slow_count;
    }
  }
}

TEST(BackoffTest, UsesTheInitialAndMaximumDuration) {
  EXPECT_EQ(Backoff(3 * kSecond, 60 * kSecond, true).DurationNs(Entity(4, 0)), 24 * kSecond);
  EXPECT_EQ(Backoff(10 * kSecond, 10 * kSecond, true).DurationNs(Entity(1, 0)), 10 * kSecond);
  EXPECT_EQ(Backoff(10 * kSecond, 5 * kSecond, true).DurationNs(Entity(1, 0)), 5 * kSecond);
  EXPECT_EQ(Backoff(kSecond, INT64_MAX, true).DurationNs(Entity(34, 0)), kSecond << 33);
  EXPECT_EQ(Backoff(kSecond, INT64_MAX, true).DurationNs(Entity(60, 0)), INT64_MAX);
}

TEST(BackoffTest, AMaximumOfZeroDisablesBackoff) {
  const Backoff backoff(kSecond, 0, true);
  EXPECT_EQ(backoff.DurationNs(Entity(1, 0)), 0);
  EXPECT_EQ(backoff.UntilNs(Entity(1, 0)), 0);
  EXPECT_FALSE(backoff.IsOn(0, kStart));
}

// Times are in nanoseconds after kStart, which is a whole second.
struct WindowCase {
  const char* description;
  bool has_windows;
  int64_t queued_ns;
  int64_t now_ns;
  bool is_on;
};

constexpr WindowCase kWindows[] = {
    {"queued at a whole second: on at the start of the window of its end", true, 0, kSecond, true},
    {"queued at a whole second: on at the last nanosecond of that window", true, 0, 2 * kSecond - 1,
     true},
    {"queued at a whole second: over at the next window", true, 0, 2 * kSecond, false},
    {"queued late in a second: on at the last nanosecond of the window", true, kSecond - 1,
     2 * kSecond - 1, true},
    {"queued late in a second: over just after its second", true, kSecond - 1, 2 * kSecond, false},
    {"queued early in a second: on at the last nanosecond of the window", true, 1, 2 * kSecond - 1,
     true},
    {"queued early in a second: over just before two seconds", true, 1, 2 * kSecond, false},
    {"without windows: on when it ends now", false, 500, kSecond + 500, true},
    {"without windows: over a nanosecond later", false, 500, kSecond + 501, false},
};

TEST(BackoffTest, EndsTogetherWithItsWindow) {
  for (const WindowCase& c : kWindows) {
    const Backoff backoff(kSecond, 10 * kSecond, c.has_windows);
    const int64_t until_ns = backoff.UntilNs(Entity(1, 0, kStart + c.queued_ns));
    EXPECT_EQ(backoff.IsOn(until_ns, kStart + c.now_ns), c.is_on) << c.description;
  }
}

TEST(BackoffTest, WithWindowsUntilIsAWholeSecond) {
  for (const int64_t late : {int64_t{0}, int64_t{1}, kSecond - 1}) {
    EXPECT_EQ(Backoff(kSecond, 10 * kSecond, true).UntilNs(Entity(1, 0, kStart + late)),
              kStart + kSecond);
    EXPECT_EQ(Backoff(kSecond, 10 * kSecond, false).UntilNs(Entity(1, 0, kStart + late)),
              kStart + kSecond + late);
  }
}

TEST(BackoffTest, TickAfterIsFirstWholeSecondAfterBackoff) {
  for (const bool has_windows : {true, false}) {
    const Backoff backoff(kSecond, 10 * kSecond, has_windows);
    for (const int64_t until_ns : {kStart, kStart + 1, kStart + kSecond - 1}) {
      const int64_t tick_ns = Backoff::TickAfter(until_ns);
      EXPECT_EQ(tick_ns % kSecond, 0);
      if (has_windows && until_ns != kStart)
        continue;  // UntilNs() returns whole seconds with windows.
      EXPECT_TRUE(backoff.IsOn(until_ns, tick_ns - kSecond)) << until_ns;
      EXPECT_FALSE(backoff.IsOn(until_ns, tick_ns)) << until_ns;
    }
  }
}

}  // namespace
}  // namespace berth::host
