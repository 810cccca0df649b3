#include "host/guard/call_watchdog.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/runtime/plan.h"
#include "host/runtime/plugin_call.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;

// ---- The logic ----------------------------------------------------------------------------------

class CallWatchTest : public ::testing::Test {
 protected:
  CallWord Call(Point point, bool may_block = false) {
    return CallMonitor::NextWord(slot_, 1, point, may_block);
  }
  // The calls that are found late with these running, innermost and outermost by thread.
  std::vector<CallWord> Look(int64_t now_ms, std::vector<CallMonitor::Seen> seen) {
    std::vector<CallWord> late;
    for (const OverdueCall& call : watch_.Look(now_ms * kMs, seen)) late.push_back(call.call);
    return late;
  }

  CallSlot slot_;
  CallWatch watch_{{.call_ns = 1000 * kMs, .post_filter_ns = 5000 * kMs}};
};

TEST_F(CallWatchTest, ACallIsLateAtItsDeadlineAndFoundOnce) {
  const CallWord call = Call(Point::kFilter);
  EXPECT_THAT(Look(100, {{call, call}}), IsEmpty());
  EXPECT_THAT(Look(1099, {{call, call}}), IsEmpty());
  EXPECT_THAT(Look(1100, {{call, call}}), ElementsAre(call));
  EXPECT_THAT(Look(1200, {{call, call}}), IsEmpty());
  EXPECT_FALSE(watch_.stuck());
}

TEST_F(CallWatchTest, SaysForHowLongItHasBeenSeen) {
  const CallWord call = Call(Point::kFilter);
  const std::vector<CallMonitor::Seen> seen = {{call, call}};
  watch_.Look(100 * kMs, seen);
  const auto late = watch_.Look(1300 * kMs, seen);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].slot, 0U);
  EXPECT_EQ(late[0].running_ns, 1200 * kMs);
  EXPECT_EQ(late[0].deadline_ns, 1000 * kMs);
}

TEST_F(CallWatchTest, ManyShortCallsAreNotOneLongOne) {
  for (int64_t now = 0; now < 10'000; now += 100) {
    const CallWord call = Call(Point::kFilter);
    EXPECT_THAT(Look(now, {{call, call}}), IsEmpty());
  }
}

TEST_F(CallWatchTest, IsStuckFromTwiceTheDeadlineUntilTheCallEnds) {
  const CallWord call = Call(Point::kFilter);
  Look(0, {{call, call}});
  Look(1000, {{call, call}});
  EXPECT_FALSE(watch_.stuck());
  Look(1999, {{call, call}});
  EXPECT_FALSE(watch_.stuck());
  Look(2000, {{call, call}});
  EXPECT_TRUE(watch_.stuck());
  const CallWord next = Call(Point::kFilter);
  Look(2100, {{next, next}});
  EXPECT_FALSE(watch_.stuck());
}

TEST_F(CallWatchTest, PostFilterHasMoreTime) {
  const CallWord call = Call(Point::kPostFilter);
  Look(0, {{call, call}});
  EXPECT_THAT(Look(4999, {{call, call}}), IsEmpty());
  EXPECT_THAT(Look(5000, {{call, call}}), ElementsAre(call));
}

TEST_F(CallWatchTest, ACallerOfManyShortCallsIsLateByItsOwnDeadline) {
  const CallWord outer = Call(Point::kPostFilter);
  for (int64_t now = 0; now < 5000; now += 500) {
    EXPECT_THAT(Look(now, {{Call(Point::kFilter), outer}}), IsEmpty());
  }
  EXPECT_THAT(Look(5000, {{Call(Point::kFilter), outer}}), ElementsAre(outer));
}

TEST_F(CallWatchTest, TheCalledOneIsToBlameAndTheCallerGetsItsTimeAnew) {
  const CallWord outer = Call(Point::kPostFilter);
  const CallWord inner = Call(Point::kFilter);
  Look(0, {{inner, outer}});
  EXPECT_THAT(Look(6000, {{inner, outer}}), ElementsAre(inner));
  EXPECT_THAT(Look(7000, {{outer, outer}}), IsEmpty());
  EXPECT_THAT(Look(10'999, {{outer, outer}}), IsEmpty());
  EXPECT_THAT(Look(11'000, {{outer, outer}}), ElementsAre(outer));
}

TEST_F(CallWatchTest, WhatMayBlockHasNoDeadline) {
  const CallWord call = Call(Point::kBind, true);
  Look(0, {{call, call}});
  EXPECT_THAT(Look(1'000'000, {{call, call}}), IsEmpty());
  EXPECT_FALSE(watch_.stuck());
}

TEST_F(CallWatchTest, ThreadsAreSeenOneByOne) {
  const CallWord a = Call(Point::kFilter);
  Look(0, {{a, a}});
  const CallWord b = Call(Point::kFilter);
  EXPECT_THAT(Look(500, {{a, a}, {b, b}}), IsEmpty());
  EXPECT_THAT(Look(1000, {{a, a}, {b, b}}), ElementsAre(a));
  EXPECT_THAT(Look(1500, {{0, 0}, {b, b}}), ElementsAre(b));
}

TEST_F(CallWatchTest, NobodyIsCalledForAnyLengthOfTime) {
  Look(0, {{0, 0}});
  EXPECT_THAT(Look(1'000'000, {{0, 0}}), IsEmpty());
  EXPECT_FALSE(watch_.stuck());
}

// ---- What is done about it ----------------------------------------------------------------------

class CallWatchdogTest : public ::testing::Test {
 protected:
  CallWatchdogTest() {
    services_.monitor = &monitor_;
    services_.faults = &faults_;
    plugin_.name = "test.A";
    plugin_.host =
        std::make_unique<InstanceHost>(services_, "test.A", std::vector<std::string>(), "default");
  }

  TestObjects test_objects_;
  ObjectStore objects_;
  TestClock clock_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  PluginFaults faults_{{.quarantine = {},
                        .log =
                            [this](uint32_t, std::string_view plugin, std::string_view message) {
                              const std::scoped_lock lock(mutex_);
                              lines_.push_back(std::string(plugin) + ": " + std::string(message));
                            },
                        .clock = &clock_}};
  CallMonitor monitor_{test_objects_.interner()};
  HostServices services_{.interner = test_objects_.interner(), .objects = objects_, .log = {}};
  PlannedPlugin plugin_;
  CallWatchdog watchdog_{monitor_, faults_, {}};
};

TEST_F(CallWatchdogTest, CancelsNamesCountsAndThenIsNotReady) {
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, nullptr);
  {
    const PluginCall call(plugin_, Point::kFilter);
    watchdog_.Look(0);
    EXPECT_EQ(cancel, 0U);
    watchdog_.Look(1000 * kMs);
    EXPECT_EQ(cancel, 1U);
    EXPECT_FALSE(watchdog_.overdue());
    watchdog_.Look(1900 * kMs);
    watchdog_.Look(2000 * kMs);
    EXPECT_TRUE(watchdog_.overdue());
  }
  EXPECT_EQ(cancel, 0U);
  watchdog_.Look(2100 * kMs);
  EXPECT_FALSE(watchdog_.overdue());
  monitor_.EndAttempt(&cancel);
  EXPECT_THAT(lines_, ElementsAre("test.A: Filter: deadline: a call has run for 1s, its deadline "
                                  "is 1s"));
  ASSERT_EQ(faults_.Counts().size(), 1U);
  EXPECT_EQ(faults_.Counts()[0].kind, FaultKind::kDeadline);
  EXPECT_EQ(faults_.Counts()[0].count, 1U);
}

// The instance may go while the watchdog looks at its last call.
TEST_F(CallWatchdogTest, AnInstanceThatIsGoneIsNotLate) {
  std::optional<PluginCall> call;
  call.emplace(plugin_, Point::kFilter);
  watchdog_.Look(0);
  call.reset();
  plugin_.host.reset();
  watchdog_.Look(2000 * kMs);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(CallWatchdogTest, TheThreadLooksByItself) {
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, nullptr);
  {
    const WatchdogThread thread(watchdog_, clock_);
    const PluginCall call(plugin_, Point::kFilter);
    while (__atomic_load_n(&cancel, __ATOMIC_RELAXED) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      clock_.Advance(100 * kMs);
    }
  }
  monitor_.EndAttempt(&cancel);
  ASSERT_EQ(faults_.Counts().size(), 1U);
  EXPECT_EQ(faults_.Counts()[0].kind, FaultKind::kDeadline);
}

}  // namespace
}  // namespace berth::host
