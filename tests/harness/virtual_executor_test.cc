#include "tests/harness/virtual_executor.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class VirtualExecutorTest : public ::testing::Test {
 protected:
  Executor::Task Note(std::string text) {
    return [this, text = std::move(text)] { seen_.push_back(text); };
  }

  TestClock clock_;
  VirtualExecutor executor_{clock_};
  std::vector<std::string> seen_;
};

TEST_F(VirtualExecutorTest, RunsTasksLaterInOrderOfTheCalls) {
  executor_.Post(Note("a"));
  executor_.Post(Note("b"));
  EXPECT_THAT(seen_, IsEmpty());
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_THAT(seen_, ElementsAre("a"));
  EXPECT_EQ(executor_.RunAll(), 1u);
  EXPECT_THAT(seen_, ElementsAre("a", "b"));
  EXPECT_FALSE(executor_.RunOne());
}

TEST_F(VirtualExecutorTest, RunsATimerOnceDueAndNotBefore) {
  executor_.StartTimer(clock_.NowNs() + 2, Note("late"));
  executor_.StartTimer(clock_.NowNs() + 1, Note("first"));
  executor_.StartTimer(clock_.NowNs() + 1, Note("second"));
  EXPECT_EQ(executor_.RunAll(), 0u);
  EXPECT_EQ(executor_.NextNs(), std::optional(clock_.NowNs() + 1));
  clock_.Advance(1);
  EXPECT_EQ(executor_.RunAll(), 2u);
  EXPECT_THAT(seen_, ElementsAre("first", "second"));
  clock_.Advance(1);
  executor_.RunAll();
  EXPECT_THAT(seen_, ElementsAre("first", "second", "late"));
  EXPECT_EQ(executor_.NextNs(), std::nullopt);
}

TEST_F(VirtualExecutorTest, DoesNotRunADueButCancelledTimer) {
  const Executor::TimerId timer = executor_.StartTimer(clock_.NowNs(), Note("cancelled"));
  EXPECT_TRUE(executor_.CancelTimer(timer));
  EXPECT_FALSE(executor_.CancelTimer(timer));
  EXPECT_FALSE(executor_.CancelTimer(timer + 1));
  EXPECT_EQ(executor_.RunAll(), 0u);
  const Executor::TimerId other = executor_.StartTimer(clock_.NowNs(), Note("ran"));
  EXPECT_NE(other, timer);
  executor_.RunAll();
  EXPECT_FALSE(executor_.CancelTimer(other));
  EXPECT_THAT(seen_, ElementsAre("ran"));
}

TEST_F(VirtualExecutorTest, OwnedTimerRunsOnceAndEndsWithOwner) {
  OwnedTimer timer(executor_);
  EXPECT_FALSE(timer.is_running());
  timer.StartAfter(5, Note("replaced"));
  timer.StartAfter(3, Note("once"));
  EXPECT_TRUE(timer.is_running());
  clock_.Advance(5);
  executor_.RunAll();
  EXPECT_FALSE(timer.is_running());
  {
    OwnedTimer destroyed(executor_);
    destroyed.StartAfter(0, Note("destroyed"));
  }
  timer.StartAfter(0, Note("stopped"));
  timer.Stop();
  executor_.RunAll();
  EXPECT_THAT(seen_, ElementsAre("once"));
}

TEST_F(VirtualExecutorTest, TaskOfOwnedTimerMayStartItAgain) {
  OwnedTimer timer(executor_);
  timer.StartAfter(1, [&] {
    seen_.push_back("first");
    timer.StartAfter(1, Note("second"));
  });
  for (int i = 0; i < 2; ++i) {
    clock_.Advance(1);
    executor_.RunAll();
  }
  EXPECT_THAT(seen_, ElementsAre("first", "second"));
}

TEST_F(VirtualExecutorTest, AdvanceRunsEachTimerAtItsTime) {
  const int64_t start_ns = clock_.NowNs();
  std::vector<int64_t> times;
  OwnedTimer timer(executor_);
  const std::function<void()> repeat = [&] {
    times.push_back(clock_.NowNs() - start_ns);
    timer.StartAfter(10, repeat);
  };
  executor_.Post(repeat);
  Advance(executor_, clock_, 25);
  EXPECT_THAT(times, ElementsAre(0, 10, 20));
  EXPECT_EQ(clock_.NowNs() - start_ns, 25);
  Advance(executor_, clock_, 5);
  EXPECT_THAT(times, ElementsAre(0, 10, 20, 30));
}

// A task may own the timer's owner: the destruction of the object within the task is legal.
TEST_F(VirtualExecutorTest, TaskOfOwnedTimerMayDestroyTheTimer) {
  auto timer = std::make_unique<OwnedTimer>(executor_);
  timer->StartAfter(0, [&] {
    timer.reset();
    seen_.push_back("destroyed");
  });
  executor_.RunAll();
  EXPECT_THAT(seen_, ElementsAre("destroyed"));
}

TEST(VirtualExecutor, DiscardsTasksWhoseDestructorsUseIt) {
  TestClock clock;
  VirtualExecutor executor(clock);
  int ran = 0;
  int destroyed = 0;
  // Its destructor cancels a timer and posts a task.
  auto owner = std::shared_ptr<OwnedTimer>(new OwnedTimer(executor), [&](OwnedTimer* timer) {
    delete timer;
    ++destroyed;
    executor.Post([&] { ++ran; });
  });
  owner->StartAfter(kSecond, [&] { ++ran; });
  executor.Post([owner] {});
  executor.StartTimer(0, [owner = std::move(owner)] {});
  executor.Discard();
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(executor.RunAll(), 0u);
  EXPECT_FALSE(executor.NextNs().has_value());
  EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace berth::host
