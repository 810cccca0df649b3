// Calls on the scheduling thread: what they are told of their deadline, and what being late does.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/guard/call_watchdog.h"
#include "host/runtime/done.h"
#include "host/runtime/run_bind.h"
#include "host/runtime/run_filter.h"
#include "host/runtime/run_permit.h"
#include "host/runtime/run_post_filter.h"
#include "host/runtime/run_pre_bind.h"
#include "host/runtime/run_pre_filter.h"
#include "host/runtime/run_reserve.h"
#include "tests/runtime/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kSecond = TestClock::kSecond;

class DeadlineTest : public ::testing::Test {
 protected:
  // What a call at `point` was told: until when, from now on.
  void Note(Point point, int64_t deadline_ns) {
    told_.push_back(std::string(NameOf(point)) + " " +
                    (deadline_ns == 0 ? "none" : std::to_string(deadline_ns - Now())));
  }
  int64_t Now() { return stage_.clock().NowNs(); }
  auto End() {
    return [this](const PluginStatus& status) { ends_.push_back(TextOf(status)); };
  }
  // The watchdog looks at the beginning of the call that runs and when `ns` of it are over.
  static void Late(CallWatchdog& watchdog, int64_t ns) {
    watchdog.Look(0);
    watchdog.Look(ns);
  }

  Stage stage_;
  std::vector<std::string> told_;
  std::vector<std::string> ends_;
};

TEST_F(DeadlineTest, IsToldAtEveryPoint) {
  Puppet& a = stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter, Point::kPostFilter,
                                      Point::kReserve, Point::kPermit});
  a.pre_filter = [&](const berth_cycle& cycle, auto&&...) {
    Note(Point::kPreFilter, cycle.deadline_ns);
    stage_.clock().Advance(5);
    return BERTH_SUCCESS;
  };
  a.filter = [&](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                 berth_status*) {
    Note(Point::kFilter, cycle.deadline_ns);
    std::fill_n(out.codes, block.count, uint8_t{BERTH_SUCCESS});
    return BERTH_SUCCESS;
  };
  a.post_filter = [&](const berth_cycle& cycle, auto&&...) {
    Note(Point::kPostFilter, cycle.deadline_ns);
    return BERTH_UNSCHEDULABLE;
  };
  a.reserve = [&](const berth_cycle& cycle, auto&&...) {
    Note(Point::kReserve, cycle.deadline_ns);
    return BERTH_SUCCESS;
  };
  a.permit = [&](const berth_cycle& cycle, auto&&...) {
    Note(Point::kPermit, cycle.deadline_ns);
    return BERTH_SUCCESS;
  };
  stage_.Build();
  const Nominator nominator;
  const auto run = [&] {
    told_.clear();
    Attempt& attempt = stage_.Begin();
    EXPECT_TRUE(RunPreFilter(attempt).ok());
    EXPECT_TRUE(RunFilter(attempt, nominator).ok());
    RunPostFilter(attempt);
    EXPECT_TRUE(RunReserve(attempt, 0).ok());
    EXPECT_TRUE(RunPermit(attempt, 0).status.ok());
    attempt.End();
  };
  {
    CallWatchdog watchdog(stage_.monitor(), stage_.faults(),
                          {.call_ns = kSecond, .post_filter_ns = 10 * kSecond});
    run();
    EXPECT_THAT(told_,
                ElementsAre("PreFilter 1000000000", "Filter 1000000000", "PostFilter 10000000000",
                            "Reserve 1000000000", "Permit 1000000000"));
  }
  run();  // Nobody looks: nothing is late.
  EXPECT_THAT(told_, ElementsAre("PreFilter none", "Filter none", "PostFilter none", "Reserve none",
                                 "Permit none"));
}

// It always runs on the scheduling thread, whatever the plugin's PreBind does.
TEST_F(DeadlineTest, ALatePreFlightIsAFault) {
  for (const char* name : {"puppet.A", "puppet.Slow"}) {
    SCOPED_TRACE(name);
    Stage stage;
    CallWatchdog watchdog(stage.monitor(), stage.faults(), {.call_ns = kSecond});
    bool was_cancelled = false;
    int64_t deadline_ns = 0;
    Puppet& puppet = stage.Add(name, {Point::kPreBind});
    puppet.pre_flight = [&](const berth_binding& binding, berth_status*) {
      deadline_ns = binding.deadline_ns;
      EXPECT_FALSE(BERTH_CANCELED(&binding));
      Late(watchdog, kSecond);
      was_cancelled = BERTH_CANCELED(&binding);
      return BERTH_SUCCESS;
    };
    stage.Build();
    stage.calls().on_pool = [](const std::function<void()>&) { return uint64_t{1}; };
    auto binding = stage.MakeBinding();
    EXPECT_TRUE(RunPreBindPreFlight(*binding).status.ok());
    EXPECT_EQ(deadline_ns, stage.clock().NowNs() + kSecond);
    EXPECT_TRUE(was_cancelled);
    EXPECT_FALSE(BERTH_CANCELED(binding->AbiFor(0)));  // It ended.
    EXPECT_THAT(stage.Faults(), ElementsAre(std::string(name) + " PreBind deadline"));
  }
}

// Without a pool a plugin that blocks holds up everybody, and is late like any other.
TEST_F(DeadlineTest, ALateCallIsCancelledWhereItRunsOnTheSchedulingThread) {
  for (const char* name : {"puppet.A", "puppet.Slow"}) {
    SCOPED_TRACE(name);
    Stage stage;
    CallWatchdog watchdog(stage.monitor(), stage.faults(), {.call_ns = kSecond});
    bool was_cancelled = false;
    berth_done* promise = nullptr;
    Puppet& puppet = stage.Add(name, {Point::kBind});
    puppet.bind = [&](const berth_binding& binding, berth_done* done, berth_status*) {
      Late(watchdog, kSecond - 1);
      EXPECT_FALSE(BERTH_CANCELED(&binding));
      Late(watchdog, kSecond);
      was_cancelled = BERTH_CANCELED(&binding);
      promise = done;
      return BERTH_PENDING;
    };
    stage.Build();
    auto binding = stage.MakeBinding();
    BindRun run(*binding, stage.calls(), End());
    run.Start();
    EXPECT_TRUE(was_cancelled);
    EXPECT_FALSE(BERTH_CANCELED(binding->AbiFor(0)));  // The answer is still wanted.
    EXPECT_THAT(stage.Faults(), ElementsAre(std::string(name) + " Bind deadline"));
    Stage::Complete(promise, {BERTH_SUCCESS});
    stage.Drain();
    EXPECT_THAT(ends_, ElementsAre("Success"));
    ends_.clear();
  }
}

// The call is late long before its answer is.
TEST_F(DeadlineTest, ACallOnTheSchedulingThreadIsToldWhenItIsLate) {
  struct Row {
    int64_t answer;
    int64_t told;
  };
  for (const Row& row :
       {Row{0, kSecond}, Row{kSecond - 1, kSecond - 1}, Row{5 * kSecond, kSecond}}) {
    SCOPED_TRACE(row.answer);
    Stage stage;
    const CallWatchdog watchdog(stage.monitor(), stage.faults(), {.call_ns = kSecond});
    const int64_t now = stage.clock().NowNs();
    stage.Add("puppet.A", {Point::kBind}).bind = [&](const berth_binding& binding, berth_done*,
                                                     berth_status*) {
      EXPECT_EQ(binding.deadline_ns, now + row.told);
      return BERTH_PENDING;
    };
    stage.Build();
    stage.calls().deadline_ns = row.answer;
    auto binding = stage.MakeBinding();
    BindRun run(*binding, stage.calls(), End());
    run.Start();
    EXPECT_EQ(binding->AbiFor(0)->deadline_ns, row.answer == 0 ? 0 : now + row.answer);
  }
}

TEST_F(DeadlineTest, WhatWasCancelledBeforeStaysSo) {
  CallWatchdog watchdog(stage_.monitor(), stage_.faults(), {.call_ns = kSecond});
  stage_.Add("puppet.A", {Point::kBind}).bind = [&](const berth_binding& binding, berth_done*,
                                                    berth_status*) {
    EXPECT_TRUE(BERTH_CANCELED(&binding));
    Late(watchdog, kSecond);
    return BERTH_CANCELLED;
  };
  stage_.Build();
  auto binding = stage_.MakeBinding();
  binding->Cancel();
  BindRun run(*binding, stage_.calls(), End());
  run.Start();
  EXPECT_TRUE(BERTH_CANCELED(binding->AbiFor(0)));
}

// On the pool, how long a call takes is up to AsyncCalls.
TEST_F(DeadlineTest, ACallOnThePoolIsNotTheWatchdogs) {
  CallWatchdog watchdog(stage_.monitor(), stage_.faults(), {.call_ns = kSecond});
  stage_.Add("puppet.Slow", {Point::kBind}).bind = [&](const berth_binding& binding, berth_done*,
                                                       berth_status*) {
    Late(watchdog, 100 * kSecond);
    EXPECT_FALSE(BERTH_CANCELED(&binding));
    return BERTH_SUCCESS;
  };
  stage_.Build();
  stage_.calls().on_pool = [](const std::function<void()>& task) {
    task();
    return uint64_t{1};
  };
  auto binding = stage_.MakeBinding();
  BindRun run(*binding, stage_.calls(), End());
  run.Start();
  stage_.Drain();
  EXPECT_THAT(ends_, ElementsAre("Success"));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

}  // namespace
}  // namespace berth::host
