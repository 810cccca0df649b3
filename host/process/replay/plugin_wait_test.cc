// The limits of a run that waits for timers and threads of plugins.
#include "host/process/replay/plugin_wait.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using Awaited = PluginWait::Awaited;

constexpr PluginId kPlugin = 0;

class PluginWaitTest : public ::testing::Test {
 protected:
  // Lets the timer at `at_ns` fire.
  void Fire(int64_t at_ns) {
    clock_.AdvanceTo(at_ns);
    work_.OnTimerEnded(kPlugin, at_ns);
    work_.OnCalledByItself();
  }
  int64_t StartTimer(int64_t after_ns) {
    work_.OnTimerStarted(kPlugin, clock_.NowNs() + after_ns);
    return clock_.NowNs() + after_ns;
  }
  bool Step(bool has_tried = false) { return wait_.OnStep(work_, progress_, has_tried); }
  bool WaitForThreads() { return wait_.WaitForThreads(work_, waker_, 1); }

  TestClock clock_;
  int64_t steady_ns_ = 0;
  ThreadWaker waker_;
  PluginWork work_{&waker_};
  uint64_t progress_ = 0;
  PluginWait wait_{clock_};
};

TEST_F(PluginWaitTest, AwaitsNothingWithoutTimersAndThreads) {
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kNothing);
  EXPECT_FALSE(WaitForThreads());
  EXPECT_FALSE(Step());
  EXPECT_FALSE(Step(true));
  EXPECT_EQ(wait_.BusyAdvanceNs(), 0);
}

TEST_F(PluginWaitTest, AwaitsTimersUpToTheLimit) {
  constexpr struct {
    int64_t after_ns;
    Awaited awaited;
  } kCases[] = {{0, Awaited::kPlugins},
                {kHour, Awaited::kPlugins},
                {kHour + 1, Awaited::kLimitReached},
                {INT64_MAX - 2'000'000'000 * kSecond, Awaited::kLimitReached}};
  for (const auto& [after_ns, awaited] : kCases) {
    const int64_t at_ns = StartTimer(after_ns);
    EXPECT_EQ(wait_.AwaitedOf(work_), awaited) << after_ns;
    work_.OnTimerEnded(kPlugin, at_ns);
  }
}

TEST_F(PluginWaitTest, ProgressMovesTheLimitOfTimers) {
  clock_.Advance(kMinute);
  const int64_t at_ns = StartTimer(kHour);
  Step();
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kLimitReached);
  ++progress_;
  Step();
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kPlugins);
  work_.OnTimerEnded(kPlugin, at_ns);
  StartTimer(kHour + 1);
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kLimitReached);
}

TEST_F(PluginWaitTest, FailuresAreForgottenOnceForEachTime) {
  StartTimer(0);
  Fire(clock_.NowNs());
  EXPECT_TRUE(Step());
  StartTimer(0);
  Fire(clock_.NowNs());
  EXPECT_FALSE(Step()) << "no time has passed";
  Fire(StartTimer(1));
  EXPECT_TRUE(Step());
  EXPECT_FALSE(Step());
}

// Otherwise pods that fail again and again would keep the run alive together with such plugins.
TEST_F(PluginWaitTest, FailuresCountAfterTheLimits) {
  wait_.SetLimits({.timers_ns = 10, .threads_ns = 10, .steady_ns = [this] { return steady_ns_; }});
  Fire(StartTimer(10));
  EXPECT_TRUE(Step());
  Fire(StartTimer(1));
  EXPECT_FALSE(Step());
  work_.OnCalledByThread();
  EXPECT_TRUE(Step());
  steady_ns_ = 9;
  work_.OnCalledByThread();
  EXPECT_TRUE(Step());
  steady_ns_ = 10;
  work_.OnCalledByThread();
  EXPECT_FALSE(Step());
  ++progress_;
  work_.OnCalledByThread();
  EXPECT_TRUE(Step());
  Fire(StartTimer(10));
  EXPECT_TRUE(Step());
}

TEST_F(PluginWaitTest, TimeAdvancesWhilePluginsCallThemselves) {
  for (uint32_t i = 0; i < PluginWait::kMaxRounds; ++i) {
    EXPECT_EQ(wait_.BusyAdvanceNs(), 0) << i;
    work_.OnCalledByItself();
    Step();
  }
  EXPECT_EQ(wait_.BusyAdvanceNs(), 10 * kMillisecond);
  clock_.Advance(1);
  EXPECT_EQ(wait_.BusyAdvanceNs(), 0);
  work_.OnCalledByItself();
  Step();
  EXPECT_EQ(wait_.BusyAdvanceNs(), 0);
}

TEST_F(PluginWaitTest, AttemptsAndThreadsKeepTimeFromAdvancing) {
  for (uint32_t i = 0; i < 2 * PluginWait::kMaxRounds; ++i) {
    work_.OnCalledByItself();
    Step(true);
    work_.OnCalledByThread();
    Step();
    EXPECT_EQ(wait_.BusyAdvanceNs(), 0) << i;
  }
}

TEST_F(PluginWaitTest, TooManyCallsWithoutProgressAreARunaway) {
  wait_.SetLimits({.calls = 10});
  StartTimer(0);
  for (int i = 1; i < 10; ++i) work_.OnCalledByItself();
  Step();
  EXPECT_FALSE(wait_.IsRunaway());
  work_.OnCalledByItself();
  Step();
  EXPECT_TRUE(wait_.IsRunaway());
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kLimitReached);
  ++progress_;
  Step();
  EXPECT_FALSE(wait_.IsRunaway());
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kPlugins);
}

TEST_F(PluginWaitTest, ThreadsAreAwaitedUpToTheirLimit) {
  wait_.SetLimits({.threads_ns = 10, .steady_ns = [this] { return steady_ns_; }});
  const uint64_t hold = work_.Hold(kPlugin);
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kPlugins);
  EXPECT_TRUE(WaitForThreads());
  steady_ns_ = 9;
  EXPECT_TRUE(WaitForThreads());
  steady_ns_ = 10;
  EXPECT_FALSE(WaitForThreads());
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kLimitReached);
  EXPECT_FALSE(WaitForThreads());
  work_.Release(hold);
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kNothing);
}

// Otherwise a thread that announces work again and again would keep the run alive.
TEST_F(PluginWaitTest, NewWorkIsAwaitedOnlyAfterProgress) {
  wait_.SetLimits({.threads_ns = 10, .steady_ns = [this] { return steady_ns_; }});
  work_.Hold(kPlugin);
  EXPECT_TRUE(WaitForThreads());
  steady_ns_ = 10;
  EXPECT_FALSE(WaitForThreads());
  work_.Hold(kPlugin);
  EXPECT_FALSE(WaitForThreads());
  ++progress_;
  Step();
  EXPECT_TRUE(WaitForThreads()) << "the new work";
  steady_ns_ = 20;
  EXPECT_FALSE(WaitForThreads());
  ++progress_;
  Step();
  EXPECT_FALSE(WaitForThreads()) << "the same work is not awaited again";
}

TEST_F(PluginWaitTest, TheLimitCountsAllWaitsSinceTheProgress) {
  wait_.SetLimits({.threads_ns = 10, .steady_ns = [this] { return steady_ns_; }});
  work_.Release(work_.Hold(kPlugin));
  const uint64_t first = work_.Hold(kPlugin);
  EXPECT_TRUE(WaitForThreads());
  work_.Release(first);
  EXPECT_FALSE(WaitForThreads());
  work_.Hold(kPlugin);
  steady_ns_ = 9;
  EXPECT_TRUE(WaitForThreads());
  steady_ns_ = 10;
  EXPECT_FALSE(WaitForThreads());
}

TEST_F(PluginWaitTest, ThreadsAreNotAwaitedWithoutAClock) {
  work_.Hold(kPlugin);
  EXPECT_FALSE(WaitForThreads());
  EXPECT_EQ(wait_.AwaitedOf(work_), Awaited::kLimitReached);
}

}  // namespace
}  // namespace berth::host
