#include "host/guard/call_watchdog.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- CallWatch ----------------------------------------------------------------------------------

class CallWatchTest : public ::testing::Test {
 protected:
  CallWord Call(Point point, bool may_block = false) {
    return CallMonitor::NextWord(slot_, 1, point, may_block);
  }
  // Returns the calls that are found late. `seen`: the innermost and outermost calls, by thread.
  std::vector<CallWord> Poll(int64_t now_ms, std::vector<CallMonitor::ThreadCalls> seen) {
    std::vector<CallWord> late;
    for (const OverdueCall& call : watch_.Poll(now_ms * kMillisecond, seen))
      late.push_back(call.call);
    return late;
  }

  CallSlot slot_;
  CallWatch watch_{{.call_ns = 1000 * kMillisecond, .post_filter_ns = 5000 * kMillisecond}};
};

TEST_F(CallWatchTest, ReportsACallOnceAtItsDeadline) {
  const CallWord call = Call(Point::kFilter);
  EXPECT_THAT(Poll(100, {{call, call}}), IsEmpty());
  EXPECT_THAT(Poll(1099, {{call, call}}), IsEmpty());
  EXPECT_THAT(Poll(1100, {{call, call}}), ElementsAre(call));
  EXPECT_THAT(Poll(1200, {{call, call}}), IsEmpty());
  EXPECT_FALSE(watch_.stuck());
}

TEST_F(CallWatchTest, ReportsHowLongACallHasRun) {
  const CallWord call = Call(Point::kFilter);
  const std::vector<CallMonitor::ThreadCalls> seen = {{call, call}};
  watch_.Poll(100 * kMillisecond, seen);
  const auto late = watch_.Poll(1300 * kMillisecond, seen);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].slot, 0U);
  EXPECT_EQ(late[0].running_ns, 1200 * kMillisecond);
  EXPECT_EQ(late[0].deadline_ns, 1000 * kMillisecond);
}

TEST_F(CallWatchTest, ManyShortCallsAreNotOneLongCall) {
  for (int64_t now = 0; now < 10'000; now += 100) {
    const CallWord call = Call(Point::kFilter);
    EXPECT_THAT(Poll(now, {{call, call}}), IsEmpty());
  }
}

TEST_F(CallWatchTest, IsStuckFromTwiceDeadlineUntilCallEnds) {
  const CallWord call = Call(Point::kFilter);
  Poll(0, {{call, call}});
  Poll(1000, {{call, call}});
  EXPECT_FALSE(watch_.stuck());
  Poll(1999, {{call, call}});
  EXPECT_FALSE(watch_.stuck());
  Poll(2000, {{call, call}});
  EXPECT_TRUE(watch_.stuck());
  const CallWord next = Call(Point::kFilter);
  Poll(2100, {{next, next}});
  EXPECT_FALSE(watch_.stuck());
}

TEST_F(CallWatchTest, PostFilterHasMoreTime) {
  const CallWord call = Call(Point::kPostFilter);
  Poll(0, {{call, call}});
  EXPECT_THAT(Poll(4999, {{call, call}}), IsEmpty());
  EXPECT_THAT(Poll(5000, {{call, call}}), ElementsAre(call));
}

TEST_F(CallWatchTest, OuterCallOfShortCallsHasItsDeadline) {
  const CallWord outer = Call(Point::kPostFilter);
  for (int64_t now = 0; now < 5000; now += 500) {
    EXPECT_THAT(Poll(now, {{Call(Point::kFilter), outer}}), IsEmpty());
  }
  EXPECT_THAT(Poll(5000, {{Call(Point::kFilter), outer}}), ElementsAre(outer));
}

TEST_F(CallWatchTest, LateInnerCallRestartsTheOuterCallsTime) {
  const CallWord outer = Call(Point::kPostFilter);
  const CallWord inner = Call(Point::kFilter);
  Poll(0, {{inner, outer}});
  EXPECT_THAT(Poll(6000, {{inner, outer}}), ElementsAre(inner));
  EXPECT_THAT(Poll(7000, {{outer, outer}}), IsEmpty());
  EXPECT_THAT(Poll(10'999, {{outer, outer}}), IsEmpty());
  EXPECT_THAT(Poll(11'000, {{outer, outer}}), ElementsAre(outer));
}

TEST_F(CallWatchTest, ACallThatMayBlockHasNoDeadline) {
  const CallWord call = Call(Point::kBind, true);
  Poll(0, {{call, call}});
  EXPECT_THAT(Poll(1'000'000, {{call, call}}), IsEmpty());
  EXPECT_FALSE(watch_.stuck());
}

TEST_F(CallWatchTest, EveryThreadIsWatchedSeparately) {
  const CallWord a = Call(Point::kFilter);
  Poll(0, {{a, a}});
  const CallWord b = Call(Point::kFilter);
  EXPECT_THAT(Poll(500, {{a, a}, {b, b}}), IsEmpty());
  EXPECT_THAT(Poll(1000, {{a, a}, {b, b}}), ElementsAre(a));
  EXPECT_THAT(Poll(1500, {{0, 0}, {b, b}}), ElementsAre(b));
}

TEST_F(CallWatchTest, PluginsOwnDeadlineReplacesThatOfThePoint) {
  const struct {
    Point point;
    int64_t own_ms;
  } cases[] = {
      {Point::kFilter, 300}, {Point::kFilter, 7000}, {Point::kPostFilter, 300}, {kCallback, 300}};
  int64_t start = 0;
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(NameOf(c.point)) + " " + std::to_string(c.own_ms));
    const CallWord call = Call(c.point);
    const CallMonitor::ThreadCalls seen{call, call, c.own_ms * kMillisecond,
                                        c.own_ms * kMillisecond};
    Poll(start, {seen});
    EXPECT_THAT(Poll(start + c.own_ms - 1, {seen}), IsEmpty());
    const auto late = watch_.Poll((start + c.own_ms) * kMillisecond, std::vector{seen});
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(late[0].deadline_ns, c.own_ms * kMillisecond);
    EXPECT_FALSE(watch_.stuck());
    Poll(start + 2 * c.own_ms, {seen});
    EXPECT_TRUE(watch_.stuck());
    start += 100'000;
  }
}

// A plugin that asks what-if calls the Filters of other plugins.
TEST_F(CallWatchTest, NestedCallsHaveTheDeadlinesOfTheirPlugins) {
  const CallWord outer = Call(Point::kPostFilter);
  const CallWord inner = Call(Point::kFilter);
  const CallMonitor::ThreadCalls nested{inner, outer, 0, 400 * kMillisecond};
  const CallMonitor::ThreadCalls alone{outer, outer, 400 * kMillisecond, 400 * kMillisecond};
  Poll(0, {nested});
  EXPECT_THAT(Poll(999, {nested}), IsEmpty()) << "the outer call waits for the nested one";
  EXPECT_THAT(Poll(1000, {nested}), ElementsAre(inner));
  EXPECT_THAT(Poll(1100, {alone}), IsEmpty());
  EXPECT_THAT(Poll(1399, {alone}), IsEmpty());
  EXPECT_THAT(Poll(1400, {alone}), ElementsAre(outer));
}

TEST_F(CallWatchTest, NestedCallsTimeDoesNotCountOutside) {
  constexpr int64_t kLong = 5000 * kMillisecond;  // The deadline of the inner plugin.
  constexpr int64_t kShort = 1000 * kMillisecond;
  const CallWord outer = Call(Point::kPostFilter);
  const CallWord inner = Call(Point::kFilter);
  const CallMonitor::ThreadCalls alone{outer, outer, kShort, kShort};
  const CallMonitor::ThreadCalls nested{inner, outer, kLong, kShort};
  Poll(0, {alone});
  EXPECT_THAT(Poll(600, {alone}), IsEmpty());
  EXPECT_THAT(Poll(700, {nested}), IsEmpty());
  for (int64_t now = 800; now <= 5600; now += 100) {
    EXPECT_THAT(Poll(now, {nested}), IsEmpty()) << now;
    EXPECT_FALSE(watch_.stuck());
  }
  // 700 ms were the outer call's own.
  EXPECT_THAT(Poll(5899, {alone}), IsEmpty());
  const auto late = watch_.Poll(5900 * kMillisecond, std::vector{alone});
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].call, outer);
  EXPECT_EQ(late[0].running_ns, kShort);
}

TEST_F(CallWatchTest, NestedCallHasItsOwnLongerDeadline) {
  const CallWord outer = Call(Point::kPostFilter);
  const CallWord inner = Call(Point::kFilter);
  const CallMonitor::ThreadCalls nested{inner, outer, 5000 * kMillisecond, 1000 * kMillisecond};
  Poll(0, {nested});
  EXPECT_THAT(Poll(4999, {nested}), IsEmpty());
  EXPECT_THAT(Poll(5000, {nested}), ElementsAre(inner));
}

// Time that the watchdog cannot attribute to one of many short calls counts for the outer call.
TEST_F(CallWatchTest, NestedCallLeavesOutTimeOfItsPolls) {
  const CallWord outer = Call(Point::kPostFilter);
  int64_t now = 0;
  std::vector<CallWord> late;
  while (late.empty()) {
    const CallWord inner = Call(Point::kFilter);
    for (int i = 0; i < 2 && late.empty(); ++i, now += 100) late = Poll(now, {{inner, outer}});
  }
  EXPECT_THAT(late, ElementsAre(outer));
  EXPECT_EQ(now, 10'100) << "half of the time belongs to nested calls";
}

TEST_F(CallWatchTest, AnIdleThreadIsNeverLate) {
  Poll(0, {{0, 0}});
  EXPECT_THAT(Poll(1'000'000, {{0, 0}}), IsEmpty());
  EXPECT_FALSE(watch_.stuck());
}

// ---- CallWatchdog -------------------------------------------------------------------------------

class CallWatchdogTest : public ::testing::Test {
 protected:
  CallWatchdogTest() {
    callee_ = monitor_.Register({"test.A", "default", "/opt/test.A.so", account_});
  }

  TestObjects test_objects_;
  TestClock clock_;
  TestLog log_;
  std::vector<std::string>& lines_ = log_.lines();
  PluginFaults faults_{{.quarantine = {}, .log = &log_, .clock = &clock_}};
  CallMonitor monitor_{test_objects_.interner()};
  std::shared_ptr<PluginFaults::Account> account_ = faults_.Open("test.A", "default");
  CallMonitor::CalleeId callee_ = 0;
  CallWatchdog watchdog_{monitor_, faults_, {}};
};

TEST_F(CallWatchdogTest, CancelsLateCallsAndReportsStuckOnes) {
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, nullptr);
  {
    const MonitoredCall call(&monitor_, callee_, Point::kFilter, {});
    watchdog_.Poll(0);
    EXPECT_EQ(cancel, 0U);
    watchdog_.Poll(1000 * kMillisecond);
    EXPECT_EQ(cancel, 1U);
    EXPECT_FALSE(watchdog_.overdue());
    watchdog_.Poll(1900 * kMillisecond);
    watchdog_.Poll(2000 * kMillisecond);
    EXPECT_TRUE(watchdog_.overdue());
  }
  EXPECT_EQ(cancel, 0U);
  watchdog_.Poll(2100 * kMillisecond);
  EXPECT_FALSE(watchdog_.overdue());
  monitor_.EndAttempt(&cancel);
  EXPECT_THAT(lines_, ElementsAre("test.A: Filter: deadline: a call has run for 1s; its deadline "
                                  "is 1s profile=default count=1"));
  ASSERT_EQ(faults_.Counts().size(), 1U);
  EXPECT_EQ(faults_.Counts()[0].kind, FaultKind::kDeadline);
  EXPECT_EQ(faults_.Counts()[0].count, 1U);
}

// PostFilter of one plugin asks what-if, which calls a slow Filter of another plugin.
TEST_F(CallWatchdogTest, DoesNotBlameCallForANestedOne) {
  const auto slow_account = faults_.Open("test.Slow", "default");
  const auto slow =
      monitor_.Register({"test.Slow", "default", "/opt/s.so", slow_account, 5000 * kMillisecond});
  const auto quick =
      monitor_.Register({"test.A", "default", "/opt/q.so", account_, 1000 * kMillisecond});
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, nullptr);
  {
    const MonitoredCall post_filter(&monitor_, quick, Point::kPostFilter, {});
    watchdog_.Poll(0);
    {
      const MonitoredCall filter(&monitor_, slow, Point::kFilter, {});
      for (int64_t now = 100; now < 5000; now += 100) watchdog_.Poll(now * kMillisecond);
      EXPECT_THAT(lines_, IsEmpty());
      EXPECT_EQ(cancel, 0U);
      watchdog_.Poll(5100 * kMillisecond);
      EXPECT_EQ(cancel, 1U);
    }
  }
  monitor_.EndAttempt(&cancel);
  EXPECT_THAT(lines_, ElementsAre("test.Slow: Filter: deadline: a call has run for 5s; its "
                                  "deadline is 5s profile=default count=1"));
}

TEST_F(CallWatchdogTest, UsesTheDeadlineOfTheCallee) {
  const auto quick =
      monitor_.Register({"test.Quick", "default", "/opt/q.so", account_, 200 * kMillisecond});
  const MonitoredCall call(&monitor_, quick, Point::kPostFilter, {});
  watchdog_.Poll(0);
  watchdog_.Poll(199 * kMillisecond);
  EXPECT_THAT(lines_, IsEmpty());
  watchdog_.Poll(200 * kMillisecond);
  EXPECT_THAT(lines_, ElementsAre("test.A: PostFilter: deadline: a call has run for 200ms; its "
                                  "deadline is 200ms profile=default count=1"));
  EXPECT_EQ(monitor_.DeadlineNs(Point::kPostFilter, 200, 5), 205);
  EXPECT_EQ(monitor_.DeadlineNs(Point::kPostFilter, 0, 5), 5 + 10'000 * kMillisecond);
  EXPECT_EQ(monitor_.DeadlineNs(Point::kFilter, INT64_MAX, 5), INT64_MAX);
}

// An instance may be destroyed while the watchdog reads its last call.
TEST_F(CallWatchdogTest, CallOfAnUnregisteredCalleeIsNotLate) {
  std::optional<MonitoredCall> call;
  call.emplace(&monitor_, callee_, Point::kFilter, CallTerms());
  watchdog_.Poll(0);
  call.reset();
  monitor_.Unregister(callee_);
  watchdog_.Poll(2000 * kMillisecond);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(CallWatchdogTest, TheThreadLooksPeriodically) {
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, nullptr);
  {
    const WatchdogThread thread(watchdog_, clock_);
    const MonitoredCall call(&monitor_, callee_, Point::kFilter, {});
    while (__atomic_load_n(&cancel, __ATOMIC_RELAXED) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      clock_.Advance(100 * kMillisecond);
    }
  }
  monitor_.EndAttempt(&cancel);
  ASSERT_EQ(faults_.Counts().size(), 1U);
  EXPECT_EQ(faults_.Counts()[0].kind, FaultKind::kDeadline);
}

}  // namespace
}  // namespace berth::host
