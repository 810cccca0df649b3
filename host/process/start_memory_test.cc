#include "host/process/start_memory.h"

#include <vector>

#include <gtest/gtest.h>

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

TEST_F(StartMemoryTest, ReleasesAFewTimesAfterSchedulingBegan) {
  constexpr int64_t kBegin = 1000;
  memory_.OnTime(kBegin);
  EXPECT_EQ(released_, 0) << "nothing is scheduled yet";
  memory_.OnScheduling(kBegin);
  memory_.OnTime(kBegin + StartMemory::kIntervalNs - 1);
  EXPECT_EQ(released_, 0);
  memory_.OnTime(kBegin + StartMemory::kIntervalNs);
  EXPECT_EQ(released_, 1);
  memory_.OnTime(kBegin + StartMemory::kIntervalNs);
  EXPECT_EQ(released_, 1) << "the next interval has begun";
  for (int64_t i = 2; i < 100; ++i) memory_.OnTime(kBegin + i * StartMemory::kIntervalNs);
  EXPECT_EQ(released_, static_cast<int>(StartMemory::kReleases));
}

}  // namespace
}  // namespace berth::host
