#include "host/event/timer_queue.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TimerQueueTest : public ::testing::Test {
 protected:
  TimerQueue::Id Start(int64_t at_ns, const std::string& name) {
    return timers_.Start(at_ns, [this, name] { fired_.push_back(name); });
  }
  std::vector<std::string> RunDue(int64_t now_ns) {
    fired_.clear();
    const size_t count = timers_.RunDue(now_ns);
    EXPECT_EQ(count, fired_.size());
    return fired_;
  }

  TimerQueue timers_;
  std::vector<std::string> fired_;
};

TEST_F(TimerQueueTest, FiresByTimeThenInStartOrder) {
  Start(20, "late");
  Start(10, "first");
  Start(10, "second");
  Start(-5, "long due");
  EXPECT_THAT(RunDue(20), ElementsAre("long due", "first", "second", "late"));
  EXPECT_EQ(timers_.size(), 0U);
}

TEST_F(TimerQueueTest, FiresOnceAndNotTooEarly) {
  Start(10, "a");
  EXPECT_THAT(RunDue(9), IsEmpty());
  EXPECT_THAT(RunDue(10), ElementsAre("a"));
  EXPECT_THAT(RunDue(11), IsEmpty());
}

TEST_F(TimerQueueTest, ReturnsWhenTheNextTimerIsDue) {
  EXPECT_EQ(timers_.NextNs(), std::nullopt);
  Start(30, "b");
  const auto first = Start(20, "a");
  EXPECT_EQ(timers_.NextNs(), 20);
  timers_.Cancel(first);
  EXPECT_EQ(timers_.NextNs(), 30);
  RunDue(30);
  EXPECT_EQ(timers_.NextNs(), std::nullopt);
}

TEST_F(TimerQueueTest, IdsAreNeverZeroAndNeverReused) {
  const auto first = Start(1, "a");
  EXPECT_NE(first, 0U);
  EXPECT_TRUE(timers_.Cancel(first));
  EXPECT_NE(Start(1, "b"), first);
}

TEST_F(TimerQueueTest, CancelReturnsWhetherTheTimerWasPending) {
  const auto timer = Start(10, "a");
  EXPECT_FALSE(timers_.Cancel(0));
  EXPECT_FALSE(timers_.Cancel(timer + 1));
  EXPECT_TRUE(timers_.Cancel(timer));
  EXPECT_FALSE(timers_.Cancel(timer));
  EXPECT_THAT(RunDue(10), IsEmpty());
  const auto fired = Start(10, "b");
  RunDue(10);
  EXPECT_FALSE(timers_.Cancel(fired));
}

TEST_F(TimerQueueTest, TimerStartedByCallbackWaitsForNextRun) {
  timers_.Start(10, [this] {
    fired_.push_back("a");
    Start(5, "due already");
    Start(10, "due now");
  });
  Start(10, "b");
  EXPECT_THAT(RunDue(10), ElementsAre("a", "b"));
  EXPECT_THAT(RunDue(10), ElementsAre("due already", "due now"));
}

TEST_F(TimerQueueTest, CallbackStartedTimerDoesNotDelayLaterTimers) {
  timers_.Start(10, [this] {
    fired_.push_back("a");
    Start(11, "new");
  });
  Start(12, "b");
  EXPECT_THAT(RunDue(12), ElementsAre("a", "b"));
  EXPECT_THAT(RunDue(12), ElementsAre("new"));
}

TEST_F(TimerQueueTest, TimerCancelledByACallbackDoesNotFire) {
  TimerQueue::Id next = 0;
  TimerQueue::Id self = 0;
  self = timers_.Start(10, [&] {
    fired_.push_back("a");
    EXPECT_FALSE(timers_.Cancel(self));
    EXPECT_TRUE(timers_.Cancel(next));
  });
  next = Start(10, "b");
  Start(10, "c");
  EXPECT_THAT(RunDue(10), ElementsAre("a", "c"));
}

// Destroying a callback may cancel other timers.
TEST_F(TimerQueueTest, DestroyingACallbackMayCancelTimers) {
  struct Owner {
    TimerQueue& timers;
    TimerQueue::Id timer = 0;
    ~Owner() { timers.Cancel(timer); }
  };
  auto owner = std::make_shared<Owner>(Owner{timers_, Start(20, "of the owner")});
  const auto holder = timers_.Start(10, [owner] {});
  owner.reset();
  EXPECT_TRUE(timers_.Cancel(holder));
  EXPECT_EQ(timers_.size(), 0U);
}

}  // namespace
}  // namespace berth::host
