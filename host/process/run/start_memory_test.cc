#include "host/process/run/start_memory.h"

#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

class StartMemoryTest : public ::testing::Test {
 protected:
  // Reports three watches, of which the first `complete` are complete.
  void OnWatches(size_t complete) {
    std::vector<WatchState> watches(3);
    for (size_t i = 0; i < complete; ++i) watches[i].is_synced = true;
    memory_.OnWatches(watches);
  }

  int released_ = 0;
  StartMemory memory_{[this] { ++released_; }};
};

TEST_F(StartMemoryTest, ReleasesWhenAKindBecomesComplete) {
  OnWatches(0);
  EXPECT_EQ(released_, 0);
  OnWatches(1);
  OnWatches(1);
  EXPECT_EQ(released_, 1);
  EXPECT_FALSE(memory_.are_all_complete());
  OnWatches(3);
  EXPECT_EQ(released_, 2);
  EXPECT_TRUE(memory_.are_all_complete());
}

TEST_F(StartMemoryTest, ReleasesLessAndLessOftenAfterSchedulingBegan) {
  constexpr int64_t kBegin = 1000;
  memory_.OnTime(kBegin);
  EXPECT_EQ(released_, 0) << "nothing is scheduled yet";
  memory_.OnScheduling(kBegin);
  EXPECT_EQ(released_, 1);
  int expected = 1;
  int64_t at_ns = kBegin;
  for (int64_t delay_ms = 10; delay_ms <= 320; delay_ms *= 2) {
    SCOPED_TRACE(delay_ms);
    at_ns += delay_ms * kMillisecond;
    memory_.OnTime(at_ns - 1);
    EXPECT_EQ(released_, expected);
    memory_.OnTime(at_ns);
    memory_.OnTime(at_ns);
    EXPECT_EQ(released_, ++expected);
  }
  memory_.OnTime(at_ns + kSecond);
  EXPECT_EQ(released_, expected) << "the start is over";
}

}  // namespace
}  // namespace berth::host
