#include "host/runtime/services/plugin_work.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

class CountingWaker final : public Waker {
 public:
  void Wake() override { ++count; }
  int count = 0;
};

TEST(PluginWorkTest, KeepsTheEarliestTimerOfAllPlugins) {
  PluginWork work(nullptr);
  EXPECT_EQ(work.NextTimerNs(), std::nullopt);
  work.OnTimerStarted(1, 20);
  work.OnTimerStarted(2, 10);
  work.OnTimerStarted(1, 10);
  EXPECT_EQ(work.NextTimerNs(), 10);
  work.OnTimerEnded(2, 10);
  EXPECT_EQ(work.NextTimerNs(), 10);
  work.OnTimerEnded(1, 10);
  EXPECT_EQ(work.NextTimerNs(), 20);
  work.OnTimerEnded(1, 20);
  EXPECT_EQ(work.NextTimerNs(), std::nullopt);
  EXPECT_TRUE(work.CountByPlugin().empty());
}

TEST(PluginWorkTest, NewestHoldIsTheLatestThatIsHeld) {
  PluginWork work(nullptr);
  EXPECT_EQ(work.NewestHold(), 0U);
  const uint64_t first = work.Hold(1);
  const uint64_t second = work.Hold(1);
  EXPECT_NE(first, 0U);
  EXPECT_GT(second, first);
  EXPECT_EQ(work.NewestHold(), second);
  work.Release(second);
  EXPECT_EQ(work.NewestHold(), first);
  work.Release(first);
  EXPECT_EQ(work.NewestHold(), 0U);
  EXPECT_GT(work.Hold(1), second);
}

TEST(PluginWorkTest, WakesWhenAHoldEnds) {
  CountingWaker waker;
  PluginWork work(&waker);
  const uint64_t hold = work.Hold(1);
  EXPECT_EQ(waker.count, 0);
  work.Release(hold);
  EXPECT_EQ(waker.count, 1);
}

TEST(PluginWorkTest, CountsTimersAndHoldsByPlugin) {
  PluginWork work(nullptr);
  work.OnTimerStarted(3, 10);
  work.OnTimerStarted(3, 20);
  work.Hold(3);
  work.Hold(7);
  const auto counts = work.CountByPlugin();
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts.at(3).timers, 2U);
  EXPECT_EQ(counts.at(3).holds, 1U);
  EXPECT_EQ(counts.at(7).timers, 0U);
  EXPECT_EQ(counts.at(7).holds, 1U);
}

}  // namespace
}  // namespace berth::host
