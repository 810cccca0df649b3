// AsyncCall with plugins that block, on a TestPool.
#include <functional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/plan/instance_host.h"
#include "host/runtime/points/async_call.h"
#include "tests/harness/stage.h"
#include "tests/harness/test_pool.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Calls `hook` before each reading.
class HookedClock final : public Clock {
 public:
  HookedClock(const Clock& clock, std::function<void()> hook)
      : clock_(clock), hook_(std::move(hook)) {}
  int64_t NowNs() const override {
    hook_();
    return clock_.NowNs();
  }

 private:
  const Clock& clock_;
  const std::function<void()> hook_;
};

class AsyncCallPoolTest : public ::testing::Test {
 protected:
  static constexpr int64_t kDeadline = 10 * kSecond;

  AsyncCallPoolTest() {
    for (const char* name : {"puppet.Slow", "puppet.A"}) {
      stage_.Add(name, {Point::kPreBind}).pre_bind = [this](const berth_binding& binding,
                                                            berth_done done, berth_status*) {
        shown_ = &binding;
        done_ = done;
        if (during_) during_();
        return BERTH_SUCCESS;
      };
    }
    stage_.Add("puppet.Slow", {}).has_slot = true;
    stage_.Build();
    stage_.calls().pool = &pool_;
    stage_.calls().deadline_ns = kDeadline;
    binding_ = stage_.MakeBinding();
  }

  void Start(uint32_t plugin = 0) {
    call_ = std::make_unique<AsyncCall>(
        *binding_, stage_.calls(), plugin, Point::kPreBind,
        [this](const PluginStatus& status) { answers_.push_back(TextOf(status)); });
    call_->Start();
  }
  static std::string Running(const char* why) {
    return std::string("Error: running PreBind plugin \"puppet.Slow\": ") + why;
  }

  Stage stage_;
  TestPool pool_;
  std::function<void()> during_;
  const berth_binding* shown_ = nullptr;
  berth_done done_ = {};
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<AsyncCall> call_;
  std::vector<std::string> answers_;
};

TEST_F(AsyncCallPoolTest, RunsOnlyPluginsThatBlock) {
  Start(1);
  EXPECT_THAT(pool_.tasks, IsEmpty());
  EXPECT_THAT(answers_, ElementsAre("Success"));
  Start(0);
  EXPECT_EQ(pool_.tasks.size(), 1U);
  EXPECT_EQ(answers_.size(), 1U);
  pool_.RunOne();
  EXPECT_EQ(answers_.size(), 1U);  // The answer waits in the inbox.
  stage_.Drain();
  EXPECT_THAT(answers_, ElementsAre("Success", "Success"));
  EXPECT_NE(binding_->TakeState(), nullptr);
}

TEST_F(AsyncCallPoolTest, TheDeadlineStartsWithTheCall) {
  Start();
  stage_.AdvanceTime(4 * kDeadline - 1);
  EXPECT_THAT(answers_, IsEmpty());
  during_ = [this] {
    const int64_t began = stage_.clock().NowNs();
    EXPECT_EQ(shown_->call_deadline_ns, began + kDeadline);
    EXPECT_EQ(shown_->completion_deadline_ns, began + kDeadline);
    stage_.AdvanceTime(kDeadline - 1);
    EXPECT_FALSE(BERTH_IS_CANCELLED(shown_));
    stage_.AdvanceTime(1);
    EXPECT_TRUE(BERTH_IS_CANCELLED(shown_));
    stage_.AdvanceTime(kDeadline - 1);
    EXPECT_THAT(answers_, IsEmpty());
    stage_.AdvanceTime(1);
    EXPECT_THAT(answers_, ElementsAre(Running("no answer within 20s")));
    EXPECT_EQ(stage_.clock().NowNs() - began, 2 * kDeadline);
  };
  pool_.RunOne();
  stage_.Drain();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.Slow PreBind deadline"));
}

// The wait for a thread depends on the deadlines of the calls that occupy the threads.
TEST_F(AsyncCallPoolTest, ShortDeadlineKeepsTheWaitForAThread) {
  Stage stage;
  Puppet& slow = stage.Add("puppet.Slow", {Point::kPreBind});
  const berth_binding* shown = nullptr;
  slow.pre_bind = [&](const berth_binding& given, berth_done, berth_status*) {
    shown = &given;
    EXPECT_EQ(given.completion_deadline_ns, stage.clock().NowNs() + kSecond);
    return BERTH_PENDING;
  };
  stage.SetDeadline("puppet.Slow", kSecond);
  stage.Build();
  TestPool pool;
  stage.calls().pool = &pool;
  stage.calls().deadline_ns = kDeadline;
  const auto binding = stage.MakeBinding();
  std::vector<std::string> answers;
  AsyncCall call(*binding, stage.calls(), 0, Point::kPreBind,
                 [&](PluginStatus status) { answers.push_back(TextOf(status)); });
  call.Start();
  stage.AdvanceTime(4 * kDeadline - 1);
  EXPECT_THAT(answers, IsEmpty());
  pool.RunOne();
  stage.AdvanceTime(2 * kSecond + 1);
  EXPECT_TRUE(shown != nullptr && BERTH_IS_CANCELLED(shown));
  EXPECT_EQ(answers.size(), 1U);
  EXPECT_THAT(stage.Faults(), ElementsAre("puppet.Slow PreBind deadline"));
}

// Other calls occupy all threads, which is no fault of this plugin.
TEST_F(AsyncCallPoolTest, ACallThatNeverGetsAThreadFails) {
  Start();
  stage_.AdvanceTime(4 * kDeadline - 1);
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(pool_.abandoned, IsEmpty());
  stage_.AdvanceTime(1);
  EXPECT_THAT(answers_, ElementsAre(Running("no thread of the bind pool became free within 40s")));
  EXPECT_THAT(pool_.abandoned, ElementsAre(1));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
  EXPECT_EQ(stage_.HostOf("puppet.Slow").promises()->open_count(), 0U);
  EXPECT_EQ(stage_.timers().size(), 0U);
  pool_.RunOne();  // A thread becomes free too late.
  stage_.Drain();
  EXPECT_EQ(shown_, nullptr);
  EXPECT_EQ(answers_.size(), 1U);
}

// The wait for a thread times out at the moment at which a thread takes the task.
TEST_F(AsyncCallPoolTest, TaskThatThreadHasTakenIsNotDropped) {
  Start();
  bool is_first = true;
  const HookedClock clock(stage_.clock(), [&] {
    if (std::exchange(is_first, false)) stage_.AdvanceTime(4 * kDeadline);
  });
  stage_.calls().clock = &clock;
  pool_.RunOne();
  EXPECT_NE(shown_, nullptr);
  stage_.Drain();
  EXPECT_THAT(answers_, ElementsAre("Success"));
  EXPECT_THAT(pool_.abandoned, IsEmpty());
}

TEST_F(AsyncCallPoolTest, ATimedOutCallAbandonsItsThread) {
  Start();
  during_ = [this] {
    stage_.AdvanceTime(2 * kDeadline - 1);
    EXPECT_THAT(pool_.abandoned, IsEmpty());
    stage_.AdvanceTime(1);
    EXPECT_THAT(pool_.abandoned, ElementsAre(1));
    EXPECT_EQ(stage_.monitor().abandoned(), 1U);
  };
  pool_.RunOne();
  EXPECT_EQ(stage_.monitor().abandoned(), 0U);
}

// The plugin completes its promise, but its function does not return.
TEST_F(AsyncCallPoolTest, AbandonsACallThatAnswersWithoutReturning) {
  during_ = [this] {
    Stage::Complete(done_, {BERTH_SUCCESS});
    stage_.Drain();
    EXPECT_THAT(answers_, ElementsAre("Success"));
    call_.reset();
    binding_.reset();
    stage_.AdvanceTime(kDeadline - 1);
    EXPECT_THAT(pool_.abandoned, IsEmpty());
    EXPECT_THAT(stage_.Faults(), IsEmpty());
    stage_.AdvanceTime(1);
    EXPECT_THAT(pool_.abandoned, ElementsAre(1));
    EXPECT_EQ(stage_.monitor().abandoned(), 1U);
  };
  Start();
  pool_.RunOne();
  stage_.Drain();
  EXPECT_EQ(stage_.monitor().abandoned(), 0U);
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.Slow PreBind deadline"));
}

TEST_F(AsyncCallPoolTest, CallThatAnswersAndReturnsIsNotAbandoned) {
  during_ = [this] {
    Stage::Complete(done_, {BERTH_SUCCESS});
    stage_.Drain();
  };
  Start();
  pool_.RunOne();
  stage_.Drain();
  EXPECT_EQ(stage_.timers().size(), 0U);
  stage_.AdvanceTime(4 * kDeadline);
  EXPECT_THAT(answers_, ElementsAre("Success"));
  EXPECT_THAT(pool_.abandoned, IsEmpty());
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(AsyncCallPoolTest, AbandonedCallKeepsItsBindingUntilItReturns) {
  Start();
  during_ = [this] {
    stage_.AdvanceTime(2 * kDeadline);
    call_.reset();
    binding_.reset();
    EXPECT_EQ(*static_cast<int64_t*>(shown_->slots[0]), 7);
    EXPECT_EQ(Text(shown_->pod->meta->name), "p");
  };
  pool_.RunOne();
  EXPECT_EQ(Stage::slots(), 1);  // Only the scheduling thread may destroy it.
  stage_.Drain();
  EXPECT_EQ(Stage::slots(), 0);
}

TEST_F(AsyncCallPoolTest, CallCancelledInTheQueueIsNotMade) {
  Start();
  binding_->Cancel();
  pool_.RunOne();
  stage_.Drain();
  EXPECT_THAT(answers_, ElementsAre(Running("cancelled before it was called")));
  EXPECT_EQ(shown_, nullptr);
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(AsyncCallPoolTest, CallDroppedInTheQueueIsNotMade) {
  Start();
  call_.reset();
  binding_.reset();
  pool_.RunOne();
  stage_.Drain();
  EXPECT_EQ(shown_, nullptr);
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_EQ(stage_.HostOf("puppet.Slow").promises()->open_count(), 0U);
}

TEST_F(AsyncCallPoolTest, ATaskThatNeverRunsReleasesItsBinding) {
  Start();
  call_.reset();
  binding_.reset();
  pool_.tasks.clear();
  EXPECT_EQ(Stage::slots(), 1);
  stage_.DestroyPlan();
  EXPECT_EQ(Stage::slots(), 0);
}

TEST_F(AsyncCallPoolTest, WithoutPoolTheCallIsMadeAtOnce) {
  stage_.calls().pool = nullptr;
  Start();
  EXPECT_THAT(answers_, ElementsAre("Success"));
}

}  // namespace
}  // namespace berth::host
