#include "host/base/wake_pacer.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(WakePacerTest, PausesOnlyAfterTwoWakeUpsWithinInterval) {
  struct Case {
    const char* name;
    int64_t interval_ns;
    int64_t second_ns;  // The time of the second wake-up. The first one is at 0.
    int64_t now_ns;
    int64_t pause_ns;
  };
  const Case cases[] = {
      {"woken again within the interval", 100, 99, 110, 89},
      {"woken again at its end", 100, 100, 110, 0},
      {"the pause ends with the interval of the last wake-up", 100, 50, 149, 1},
      {"the work has taken the whole interval", 100, 50, 150, 0},
      {"the work has taken longer", 100, 50, 500, 0},
      {"no interval", 0, 0, 0, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    WakePacer pacer;
    pacer.OnWake(0, c.interval_ns);
    EXPECT_EQ(pacer.PauseNs(1), 0) << "the first wake-up is after a quiet time";
    pacer.OnWake(c.second_ns, c.interval_ns);
    EXPECT_EQ(pacer.PauseNs(c.now_ns), c.pause_ns);
  }
}

TEST(WakePacerTest, AQuietTimeEndsThePauses) {
  WakePacer pacer;
  pacer.OnWake(0, 100);
  pacer.OnWake(10, 100);
  EXPECT_EQ(pacer.PauseNs(20), 90);
  pacer.OnWake(110, 100);
  EXPECT_EQ(pacer.PauseNs(111), 0);
}

TEST(WakePacerTest, AWakeUpSetsTheNextInterval) {
  WakePacer pacer;
  pacer.OnWake(0, 100);
  pacer.OnWake(150, 400);
  EXPECT_EQ(pacer.PauseNs(160), 390);
  pacer.OnWake(540, 100);
  EXPECT_EQ(pacer.PauseNs(541), 0);
}

TEST(WakePacerTest, DoesNotPauseBeforeTheFirstWakeUp) { EXPECT_EQ(WakePacer().PauseNs(0), 0); }

}  // namespace
}  // namespace berth::host
