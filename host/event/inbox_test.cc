#include "host/event/inbox.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class CountingWaker final : public Waker {
 public:
  void Wake() override { ++count; }
  int count = 0;
};

TEST(Inbox, DrainsInPushOrder) {
  Inbox inbox(nullptr);
  std::vector<int> seen;
  for (int i = 0; i < 3; ++i) inbox.Push([&seen, i] { seen.push_back(i); });
  EXPECT_EQ(inbox.size(), 3u);
  EXPECT_EQ(inbox.Drain(), 3u);
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
  EXPECT_EQ(inbox.size(), 0u);
  EXPECT_EQ(inbox.Drain(), 0u);
}

TEST(Inbox, RunsPushedTasksInTheNextDrain) {
  Inbox inbox(nullptr);
  std::vector<std::string> seen;
  inbox.Push([&] {
    seen.push_back("first");
    inbox.Push([&] { seen.push_back("second"); });
  });
  EXPECT_EQ(inbox.Drain(), 1u);
  EXPECT_THAT(seen, ElementsAre("first"));
  EXPECT_EQ(inbox.size(), 1u);
  EXPECT_EQ(inbox.Drain(), 1u);
  EXPECT_THAT(seen, ElementsAre("first", "second"));
}

TEST(Inbox, WakesOncePerDrain) {
  CountingWaker waker;
  Inbox inbox(&waker);
  inbox.Push([] {});
  inbox.Push([] {});
  EXPECT_EQ(waker.count, 1);
  inbox.Drain();
  EXPECT_EQ(waker.count, 1);
  inbox.Push([] {});
  EXPECT_EQ(waker.count, 2);
}

TEST(Inbox, ReleasesTaskAsSoonAsItHasRun) {
  Inbox inbox(nullptr);
  auto held = std::make_shared<int>(0);
  inbox.Push([held] {});
  long uses_later = 0;
  inbox.Push([&] { uses_later = held.use_count(); });
  inbox.Drain();
  EXPECT_EQ(uses_later, 1);
}

TEST(Inbox, DropsTasksThatWereNotDrained) {
  auto held = std::make_shared<int>(0);
  {
    Inbox inbox(nullptr);
    inbox.Push([held] { FAIL() << "not drained"; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(InboxDeathTest, ATaskMustNotDrain) {
  Inbox inbox(nullptr);
  inbox.Push([&inbox] { inbox.Drain(); });
  EXPECT_DEATH(inbox.Drain(), "must not drain");
}

TEST(ThreadWaker, TimesOutWithoutAWake) {
  ThreadWaker waker;
  EXPECT_FALSE(waker.Wait(1 * kMillisecond));
  EXPECT_FALSE(waker.Wait(0));
  EXPECT_FALSE(waker.Wait(-1));
}

TEST(ThreadWaker, KeepsAWakeThroughAPause) {
  ThreadWaker waker;
  waker.Wake();
  waker.Pause(1);
  EXPECT_TRUE(waker.Wait(0));
  waker.Pause(1);
  EXPECT_FALSE(waker.Wait(0));
}

TEST(ThreadWaker, KeepsAWakeForTheNextWaitOnly) {
  ThreadWaker waker;
  waker.Wake();
  waker.Wake();
  EXPECT_TRUE(waker.Wait(INT64_MAX));
  EXPECT_FALSE(waker.Wait(0));
  waker.Wake();
  EXPECT_TRUE(waker.Wait(0));
}

}  // namespace
}  // namespace berth::host
