#include <optional>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/queue/backoff.h"

namespace berth::host {
namespace {

int64_t Seconds(double seconds) { return static_cast<int64_t>(seconds * 1000) * kMillisecond; }

// A schedule that was created at 100 s, with a limit of 300 s.
FlushSchedule MakeSchedule() { return {Seconds(100), Seconds(300)}; }

TEST(FlushScheduleTest, FlushesLongParkedEntitiesEvery30Seconds) {
  struct Case {
    const char* description;
    double at_s;
    std::optional<double> parked_before_s;
  };
  // One schedule for all cases: the time advances from case to case.
  const Case cases[] = {
      {"no flush is due at once", 100, {}},
      {"no flush is due before 30 s have passed", 129.999, {}},
      {"the first flush", 130, -170},
      {"a flush takes place once", 130, {}},
      {"a late flush works as of the time at which it was due", 165, -140},
      {"a late flush does not delay the next one", 190, -110},
      {"of several missed flushes only the latest takes place", 290, -20},
      {"after missed flushes the next one is due 30 s later", 309, {}},
      {"after missed flushes the period is the same", 310, 10},
  };
  FlushSchedule schedule = MakeSchedule();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    const std::optional<int64_t> before_ns = schedule.Start(Seconds(c.at_s));
    ASSERT_EQ(before_ns.has_value(), c.parked_before_s.has_value());
    if (before_ns.has_value()) {
      EXPECT_EQ(*before_ns, Seconds(*c.parked_before_s));
    }
  }
}

TEST(FlushScheduleTest, TimeForIsFirstFlushAfterTheLimit) {
  struct Case {
    const char* description;
    double parked_s;
    double flushed_s;
  };
  const Case cases[] = {
      {"parked long ago: the next flush", -1000, 130},
      {"the limit ends before the next flush", -170.001, 130},
      {"the limit ends exactly at the next flush: one later", -170, 160},
      {"the limit ends between two flushes", 100, 430},
      {"the limit ends exactly at a later flush", 130, 460},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    EXPECT_EQ(MakeSchedule().TimeFor(Seconds(c.parked_s)), Seconds(c.flushed_s));
  }
}

TEST(FlushScheduleTest, StartFlushesAtTimeFor) {
  for (double parked_s = 90; parked_s < 200; parked_s += 7.5) {
    SCOPED_TRACE(parked_s);
    FlushSchedule schedule = MakeSchedule();
    const int64_t at_ns = schedule.TimeFor(Seconds(parked_s));
    EXPECT_LE(*schedule.Start(at_ns - 1), Seconds(parked_s));
    EXPECT_GT(*schedule.Start(at_ns), Seconds(parked_s));
  }
}

}  // namespace
}  // namespace berth::host
