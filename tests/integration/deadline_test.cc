// Deadlines of calls on the scheduling thread: which deadline plugins see, and what happens when
// they miss it.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/guard/call_watchdog.h"
#include "host/plan/instance_host.h"
#include "host/runtime/points/fresh_evaluation.h"
#include "host/runtime/points/run_bind.h"
#include "host/runtime/points/run_post_bind.h"
#include "host/runtime/points/run_post_filter.h"
#include "host/runtime/points/run_pre_bind.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/points/run_reserve.h"
#include "tests/harness/stage.h"
#include "tests/harness/test_pool.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeadlineTest : public ::testing::Test {
 protected:
  // Records the deadline of a call at `point`, relative to now.
  void RecordDeadline(Point point, int64_t deadline_ns) {
    deadlines_.push_back(std::string(NameOf(point)) + " " +
                         (deadline_ns == 0 ? "none" : std::to_string(deadline_ns - Now())));
  }
  int64_t Now() { return stage_.clock().NowNs(); }
  auto End() {
    return [this](const PluginStatus& status) { ends_.push_back(TextOf(status)); };
  }
  // Makes the present call `ns` old for the watchdog.
  static void RunFor(CallWatchdog& watchdog, int64_t ns) {
    watchdog.Poll(0);
    watchdog.Poll(ns);
  }

  Stage stage_;
  std::vector<std::string> deadlines_;
  std::vector<std::string> ends_;
};

TEST_F(DeadlineTest, IsToldToPluginsAtEveryPoint) {
  Puppet& a = stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter, Point::kPostFilter,
                                      Point::kReserve, Point::kPermit});
  a.pre_filter = [&](const berth_cycle& cycle, auto&&...) {
    RecordDeadline(Point::kPreFilter, cycle.deadline_ns);
    stage_.clock().Advance(5);
    return BERTH_SUCCESS;
  };
  a.filter = [&](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                 berth_status*) {
    RecordDeadline(Point::kFilter, cycle.deadline_ns);
    std::fill_n(out.codes, block.count, uint8_t{BERTH_SUCCESS});
    return BERTH_SUCCESS;
  };
  a.post_filter = [&](const berth_cycle& cycle, auto&&...) {
    RecordDeadline(Point::kPostFilter, cycle.deadline_ns);
    return BERTH_UNSCHEDULABLE;
  };
  a.reserve = [&](const berth_cycle& cycle, auto&&...) {
    RecordDeadline(Point::kReserve, cycle.deadline_ns);
    return BERTH_SUCCESS;
  };
  a.permit = [&](const berth_cycle& cycle, auto&&...) {
    RecordDeadline(Point::kPermit, cycle.deadline_ns);
    return BERTH_SUCCESS;
  };
  stage_.Build();
  const Nominator nominator;
  const auto run = [&] {
    deadlines_.clear();
    Attempt& attempt = stage_.Begin();
    const PreFilterResult pre_filter = RunPreFilter(attempt);
    EXPECT_TRUE(pre_filter.status.ok());
    FreshEvaluation evaluation;
    const Filtered filtered = evaluation.Filter(attempt, attempt.live_rows(), nominator);
    EXPECT_TRUE(filtered.status.ok());
    RunPostFilter(attempt, pre_filter, filtered);
    EXPECT_TRUE(RunReserve(attempt, 0).ok());
    EXPECT_TRUE(RunPermit(attempt, 0).status.ok());
    attempt.End();
  };
  {
    CallWatchdog watchdog(stage_.monitor(), stage_.faults(),
                          {.call_ns = kSecond, .post_filter_ns = 10 * kSecond});
    run();
    EXPECT_THAT(deadlines_,
                ElementsAre("PreFilter 1000000000", "Filter 1000000000", "PostFilter 10000000000",
                            "Reserve 1000000000", "Permit 1000000000"));
  }
  run();  // Without a watchdog no call is late.
  EXPECT_THAT(deadlines_, ElementsAre("PreFilter none", "Filter none", "PostFilter none",
                                      "Reserve none", "Permit none"));
}

TEST_F(DeadlineTest, ThePluginsOwnDeadlineAppliesAtEveryPoint) {
  Puppet& a = stage_.Add("puppet.A", {Point::kFilter, Point::kPostFilter, Point::kPreBind});
  stage_.Add("puppet.B", {Point::kReserve}).reserve = [&](const berth_cycle& cycle, auto&&...) {
    RecordDeadline(Point::kReserve, cycle.deadline_ns);
    return BERTH_SUCCESS;
  };
  stage_.SetDeadline("puppet.A", 3 * kSecond);
  CallWatchdog watchdog(stage_.monitor(), stage_.faults(),
                        {.call_ns = kSecond, .post_filter_ns = 10 * kSecond});
  a.filter = [&](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                 berth_status*) {
    RecordDeadline(Point::kFilter, cycle.deadline_ns);
    RunFor(watchdog, 3 * kSecond - 1);
    EXPECT_FALSE(BERTH_IS_CANCELLED(&cycle));
    RunFor(watchdog, 3 * kSecond);
    EXPECT_TRUE(BERTH_IS_CANCELLED(&cycle));
    std::fill_n(out.codes, block.count, uint8_t{BERTH_SUCCESS});
    return BERTH_SUCCESS;
  };
  a.post_filter = [&](const berth_cycle& cycle, auto&&...) {
    RecordDeadline(Point::kPostFilter, cycle.deadline_ns);
    return BERTH_UNSCHEDULABLE;
  };
  a.pre_flight = [&](const berth_binding& binding, berth_status*) {
    RecordDeadline(Point::kPreBind, binding.call_deadline_ns);
    return BERTH_SUCCESS;
  };
  stage_.Build();
  const Nominator nominator;
  Attempt& attempt = stage_.Begin();
  FreshEvaluation evaluation;
  const Filtered filtered = evaluation.Filter(attempt, attempt.live_rows(), nominator);
  EXPECT_TRUE(filtered.status.ok());
  RunPostFilter(attempt, {}, filtered);
  EXPECT_TRUE(RunReserve(attempt, 0).ok());
  attempt.End();
  auto binding = stage_.MakeBinding();
  EXPECT_TRUE(RunPreBindPreFlight(*binding).status.ok());
  EXPECT_THAT(deadlines_, ElementsAre("Filter 3000000000", "PostFilter 3000000000",
                                      "Reserve 1000000000", "PreBind 3000000000"));
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.A Filter deadline"));
}

// PreFlight always runs on the scheduling thread, even if the plugin's PreBind blocks.
TEST_F(DeadlineTest, ALatePreFlightIsAFault) {
  for (const char* name : {"puppet.A", "puppet.Slow"}) {
    SCOPED_TRACE(name);
    Stage stage;
    CallWatchdog watchdog(stage.monitor(), stage.faults(), {.call_ns = kSecond});
    bool was_cancelled = false;
    int64_t deadline_ns = 0;
    Puppet& puppet = stage.Add(name, {Point::kPreBind});
    puppet.pre_flight = [&](const berth_binding& binding, berth_status*) {
      deadline_ns = binding.call_deadline_ns;
      EXPECT_EQ(binding.completion_deadline_ns, 0);
      EXPECT_FALSE(BERTH_IS_CANCELLED(&binding));
      RunFor(watchdog, kSecond);
      was_cancelled = BERTH_IS_CANCELLED(&binding);
      return BERTH_SUCCESS;
    };
    stage.Build();
    TestPool pool;
    stage.calls().pool = &pool;
    auto binding = stage.MakeBinding();
    EXPECT_TRUE(RunPreBindPreFlight(*binding).status.ok());
    EXPECT_EQ(deadline_ns, stage.clock().NowNs() + kSecond);
    EXPECT_TRUE(was_cancelled);
    // The call has ended.
    EXPECT_FALSE(BERTH_IS_CANCELLED(binding->AbiFor(0, BindingCall::kPreFlight)));
    EXPECT_THAT(stage.Faults(), ElementsAre(std::string(name) + " PreBind deadline"));
  }
}

// Without a pool, a blocking plugin runs on the scheduling thread and has the same deadline as
// other plugins.
TEST_F(DeadlineTest, LateCallOnTheSchedulingThreadIsCancelled) {
  for (const char* name : {"puppet.A", "puppet.Slow"}) {
    SCOPED_TRACE(name);
    Stage stage;
    CallWatchdog watchdog(stage.monitor(), stage.faults(), {.call_ns = kSecond});
    bool was_cancelled = false;
    berth_done promise = {};
    Puppet& puppet = stage.Add(name, {Point::kBind});
    puppet.bind = [&](const berth_binding& binding, berth_done done, berth_status*) {
      RunFor(watchdog, kSecond - 1);
      EXPECT_FALSE(BERTH_IS_CANCELLED(&binding));
      RunFor(watchdog, kSecond);
      was_cancelled = BERTH_IS_CANCELLED(&binding);
      promise = done;
      return BERTH_PENDING;
    };
    stage.Build();
    auto binding = stage.MakeBinding();
    BindRun run(*binding, stage.calls(), End());
    run.Start();
    EXPECT_TRUE(was_cancelled);
    // The answer is still wanted.
    EXPECT_FALSE(BERTH_IS_CANCELLED(binding->AbiFor(0, BindingCall::kBind)));
    EXPECT_THAT(stage.Faults(), ElementsAre(std::string(name) + " Bind deadline"));
    Stage::Complete(promise, {BERTH_SUCCESS});
    stage.Drain();
    EXPECT_THAT(ends_, ElementsAre("Success"));
    ends_.clear();
  }
}

// The deadline of the call comes long before that of the answer.
TEST_F(DeadlineTest, CallOnSchedulingThreadGetsTheEarlierDeadline) {
  struct Row {
    int64_t answer;
    int64_t deadline;
  };
  for (const Row& row :
       {Row{0, kSecond}, Row{kSecond - 1, kSecond - 1}, Row{5 * kSecond, kSecond}}) {
    SCOPED_TRACE(row.answer);
    Stage stage;
    const CallWatchdog watchdog(stage.monitor(), stage.faults(), {.call_ns = kSecond});
    const int64_t now = stage.clock().NowNs();
    stage.Add("puppet.A", {Point::kBind}).bind = [&](const berth_binding& binding, berth_done,
                                                     berth_status*) {
      EXPECT_EQ(binding.call_deadline_ns, now + row.deadline);
      EXPECT_EQ(binding.completion_deadline_ns, row.answer == 0 ? 0 : now + row.answer);
      return BERTH_PENDING;
    };
    stage.Build();
    stage.calls().deadline_ns = row.answer;
    auto binding = stage.MakeBinding();
    BindRun run(*binding, stage.calls(), End());
    run.Start();
    EXPECT_EQ(binding->AbiFor(0, BindingCall::kBind)->call_deadline_ns, now + row.deadline)
        << "nothing changes after the call has begun";
  }
}

// What the plugin claimed must be released, however the calls before ended.
TEST_F(DeadlineTest, UnreserveAndPostBindHaveTheirOwnDeadline) {
  const CallWatchdog watchdog(stage_.monitor(), stage_.faults(), {.call_ns = kSecond});
  std::vector<std::string> calls;
  const auto record = [&](const char* name) {
    return [&, name](const berth_binding& binding) {
      EXPECT_FALSE(BERTH_IS_CANCELLED(&binding));
      EXPECT_EQ(binding.call_deadline_ns, stage_.clock().NowNs() + kSecond);
      EXPECT_EQ(binding.completion_deadline_ns, 0);
      calls.push_back(name);
    };
  };
  Puppet& a = stage_.Add("puppet.A", {Point::kReserve, Point::kBind, Point::kPostBind});
  a.unreserve = record("unreserve");
  a.post_bind = record("post_bind");
  a.bind = [](const berth_binding&, berth_done, berth_status*) { return BERTH_PENDING; };
  stage_.Build();
  stage_.calls().deadline_ns = 5 * kSecond;
  auto binding = stage_.MakeBinding();
  BindRun run(*binding, stage_.calls(), End());
  run.Start();
  stage_.AdvanceTime(5 * kSecond);
  EXPECT_TRUE(BERTH_IS_CANCELLED(binding->AbiFor(0, BindingCall::kBind)));
  RunPostBind(*binding);
  binding->Cancel();
  RunUnreserve(*binding);
  EXPECT_THAT(calls, ElementsAre("post_bind", "unreserve"));
}

TEST_F(DeadlineTest, ABindingThatWasCancelledBeforeStaysCancelled) {
  CallWatchdog watchdog(stage_.monitor(), stage_.faults(), {.call_ns = kSecond});
  stage_.Add("puppet.A", {Point::kBind}).bind = [&](const berth_binding& binding, berth_done,
                                                    berth_status*) {
    EXPECT_TRUE(BERTH_IS_CANCELLED(&binding));
    RunFor(watchdog, kSecond);
    return BERTH_CANCELLED;
  };
  stage_.Build();
  auto binding = stage_.MakeBinding();
  binding->Cancel();
  BindRun run(*binding, stage_.calls(), End());
  run.Start();
  EXPECT_TRUE(BERTH_IS_CANCELLED(binding->AbiFor(0, BindingCall::kBind)));
}

// AsyncCall enforces the deadline of calls on the pool.
TEST_F(DeadlineTest, TheWatchdogIgnoresCallsOnThePool) {
  CallWatchdog watchdog(stage_.monitor(), stage_.faults(), {.call_ns = kSecond});
  stage_.Add("puppet.Slow", {Point::kBind}).bind = [&](const berth_binding& binding, berth_done,
                                                       berth_status*) {
    RunFor(watchdog, 100 * kSecond);
    EXPECT_FALSE(BERTH_IS_CANCELLED(&binding));
    return BERTH_SUCCESS;
  };
  stage_.Build();
  TestPool pool;
  stage_.calls().pool = &pool;
  auto binding = stage_.MakeBinding();
  BindRun run(*binding, stage_.calls(), End());
  run.Start();
  pool.RunOne();
  stage_.Drain();
  EXPECT_THAT(ends_, ElementsAre("Success"));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

}  // namespace
}  // namespace berth::host
