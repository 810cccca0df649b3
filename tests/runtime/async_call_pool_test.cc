// Calls of plugins that block, with a pool that is played by the test.
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/async_call.h"
#include "host/runtime/done.h"
#include "tests/runtime/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kSecond = TestClock::kSecond;

class PoolTest : public ::testing::Test {
 protected:
  static constexpr int64_t kDeadline = 10 * kSecond;

  PoolTest() {
    for (const char* name : {"puppet.Slow", "puppet.A"}) {
      stage_.Add(name, {Point::kPreBind}).pre_bind = [this](const berth_binding& binding,
                                                            berth_done* done, berth_status*) {
        shown_ = &binding;
        done_ = done;
        if (during_) during_();
        return BERTH_SUCCESS;
      };
    }
    stage_.Add("puppet.Slow", {}).has_slot = true;
    stage_.Build();
    stage_.calls().on_pool = [this](std::function<void()> task) {
      tasks_.push_back(std::move(task));
      return ++last_task_;
    };
    stage_.calls().give_up = [this](uint64_t task) { given_up_.push_back(task); };
    stage_.calls().deadline_ns = kDeadline;
    binding_ = stage_.MakeBinding();
  }

  void Start(uint32_t plugin = 0) {
    call_ = std::make_unique<AsyncCall>(
        *binding_, stage_.calls(), plugin, Point::kPreBind,
        [this](const PluginStatus& status) { answers_.push_back(TextOf(status)); });
    call_->Start();
  }
  void RunTask() {
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }
  static std::string Running(const char* why) {
    return std::string("Error: running PreBind plugin \"puppet.Slow\": ") + why;
  }

  Stage stage_;
  std::deque<std::function<void()>> tasks_;
  uint64_t last_task_ = 0;
  std::vector<uint64_t> given_up_;
  std::function<void()> during_;
  const berth_binding* shown_ = nullptr;
  berth_done* done_ = nullptr;
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<AsyncCall> call_;
  std::vector<std::string> answers_;
};

TEST_F(PoolTest, IsForPluginsThatBlock) {
  Start(1);
  EXPECT_THAT(tasks_, IsEmpty());
  EXPECT_THAT(answers_, ElementsAre("Success"));
  Start(0);
  EXPECT_EQ(tasks_.size(), 1U);
  EXPECT_EQ(answers_.size(), 1U);
  RunTask();
  EXPECT_EQ(answers_.size(), 1U);  // It comes by the inbox.
  stage_.Drain();
  EXPECT_THAT(answers_, ElementsAre("Success", "Success"));
  EXPECT_NE(binding_->TakeState(), nullptr);
}

TEST_F(PoolTest, TimeBeginsWithTheCall) {
  Start();
  stage_.Pass(4 * kDeadline - 1);
  EXPECT_THAT(answers_, IsEmpty());
  during_ = [this] {
    const int64_t began = stage_.clock().NowNs();
    EXPECT_EQ(shown_->deadline_ns, began + kDeadline);
    stage_.Pass(kDeadline - 1);
    EXPECT_FALSE(BERTH_CANCELED(shown_));
    stage_.Pass(1);
    EXPECT_TRUE(BERTH_CANCELED(shown_));
    stage_.Pass(kDeadline - 1);
    EXPECT_THAT(answers_, IsEmpty());
    stage_.Pass(1);
    EXPECT_THAT(answers_, ElementsAre(Running("no answer within 20s")));
    EXPECT_EQ(stage_.clock().NowNs() - began, 2 * kDeadline);
  };
  RunTask();
  stage_.Drain();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.Slow PreBind deadline"));
}

// Others keep all threads: that is no fault of this one's.
TEST_F(PoolTest, WithoutAThreadItFailsAtLast) {
  Start();
  stage_.Pass(4 * kDeadline - 1);
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(given_up_, IsEmpty());
  stage_.Pass(1);
  EXPECT_THAT(answers_, ElementsAre(Running("no thread came free within 40s")));
  EXPECT_THAT(given_up_, ElementsAre(1));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
  EXPECT_EQ(stage_.HostOf("puppet.Slow").open_promises(), 0U);
  EXPECT_EQ(stage_.timers().size(), 0U);
  RunTask();  // The thread comes after all.
  stage_.Drain();
  EXPECT_EQ(shown_, nullptr);
  EXPECT_EQ(answers_.size(), 1U);
}

// Who waits gives up in the very moment in which a thread has come.
TEST_F(PoolTest, WhatAThreadHasTakenIsNotDropped) {
  Start();
  bool is_first = true;
  stage_.calls().now_ns = [&] {
    if (std::exchange(is_first, false)) stage_.Pass(4 * kDeadline);
    return stage_.clock().NowNs();
  };
  RunTask();
  EXPECT_NE(shown_, nullptr);
  stage_.Drain();
  EXPECT_THAT(answers_, ElementsAre("Success"));
  EXPECT_THAT(given_up_, IsEmpty());
}

TEST_F(PoolTest, AThreadThatIsTakenIsGivenUpWithItsCall) {
  Start();
  during_ = [this] {
    stage_.Pass(2 * kDeadline - 1);
    EXPECT_THAT(given_up_, IsEmpty());
    stage_.Pass(1);
    EXPECT_THAT(given_up_, ElementsAre(1));
    EXPECT_EQ(stage_.monitor().lost(), 1U);
  };
  RunTask();
  EXPECT_EQ(stage_.monitor().lost(), 0U);
}

// It has answered, and does not give its thread back.
TEST_F(PoolTest, WhoAnswersAndDoesNotReturnIsGivenUp) {
  during_ = [this] {
    Stage::Complete(done_, {BERTH_SUCCESS});
    stage_.Drain();
    EXPECT_THAT(answers_, ElementsAre("Success"));
    call_.reset();
    binding_.reset();
    stage_.Pass(kDeadline - 1);
    EXPECT_THAT(given_up_, IsEmpty());
    EXPECT_THAT(stage_.Faults(), IsEmpty());
    stage_.Pass(1);
    EXPECT_THAT(given_up_, ElementsAre(1));
    EXPECT_EQ(stage_.monitor().lost(), 1U);
  };
  Start();
  RunTask();
  stage_.Drain();
  EXPECT_EQ(stage_.monitor().lost(), 0U);
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.Slow PreBind deadline"));
}

TEST_F(PoolTest, WhoAnswersAndReturnsIsNot) {
  during_ = [this] {
    Stage::Complete(done_, {BERTH_SUCCESS});
    stage_.Drain();
  };
  Start();
  RunTask();
  stage_.Drain();
  EXPECT_EQ(stage_.timers().size(), 0U);
  stage_.Pass(4 * kDeadline);
  EXPECT_THAT(answers_, ElementsAre("Success"));
  EXPECT_THAT(given_up_, IsEmpty());
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(PoolTest, WhoIsGivenUpKeepsWhatItWasShownUntilItReturns) {
  Start();
  during_ = [this] {
    stage_.Pass(2 * kDeadline);
    call_.reset();
    binding_.reset();
    EXPECT_EQ(*static_cast<int64_t*>(shown_->slots[0]), 7);
    EXPECT_EQ(Text(shown_->pod->meta->name), "p");
  };
  RunTask();
  EXPECT_EQ(Stage::slots(), 1);  // The scheduling thread destroys it.
  stage_.Drain();
  EXPECT_EQ(Stage::slots(), 0);
}

TEST_F(PoolTest, WhatIsCancelledBeforeItsTurnIsNotCalled) {
  Start();
  binding_->Cancel();
  RunTask();
  stage_.Drain();
  EXPECT_THAT(answers_, ElementsAre(Running("cancelled before it was called")));
  EXPECT_EQ(shown_, nullptr);
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(PoolTest, WhatIsDroppedBeforeItsTurnIsNotCalled) {
  Start();
  call_.reset();
  binding_.reset();
  RunTask();
  stage_.Drain();
  EXPECT_EQ(shown_, nullptr);
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_EQ(stage_.HostOf("puppet.Slow").open_promises(), 0U);
}

TEST_F(PoolTest, ATaskThatNeverRunsGivesEverythingBack) {
  Start();
  call_.reset();
  binding_.reset();
  tasks_.clear();
  EXPECT_EQ(Stage::slots(), 1);
  stage_.Strike();
  EXPECT_EQ(Stage::slots(), 0);
}

TEST_F(PoolTest, WithoutOneTheCallIsMadeAtOnce) {
  stage_.calls().on_pool = nullptr;
  Start();
  EXPECT_THAT(answers_, ElementsAre("Success"));
}

}  // namespace
}  // namespace berth::host
