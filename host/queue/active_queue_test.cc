#include "host/queue/active_queue.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The lane of an entity is its number of attempts. The parameter: the order has keys.
class ActiveQueueTest : public ::testing::TestWithParam<bool> {
 protected:
  ActiveQueueTest() {
    order_.uses_key = GetParam();
    UseLanes();
    queue_.Rebuild();
  }

  void UseLanes() {
    order_.lane = [](const berth_queued& queued) { return uint64_t{queued.attempts}; };
  }
  PodRef MakePod(const std::string& name, int32_t priority) {
    return objects_.Pod({.name = name, .spec = "\"priority\":" + std::to_string(priority)});
  }
  QueueEntry& Push(const std::string& name, uint32_t lane, int32_t priority = 0) {
    QueueEntry& entry = entries_.emplace_back();
    entry.entity.pod = MakePod(name, priority);
    entry.entity.attempts = lane;
    entry.sequence = entries_.size();
    queue_.Push(entry);
    queue_.CheckInvariants();
    return entry;
  }
  std::string Pop() {
    QueueEntry& entry = queue_.Next();
    queue_.Remove(entry);
    queue_.CheckInvariants();
    return std::string(entry.entity.pod->name());
  }
  std::vector<std::string> Drain() {
    std::vector<std::string> names;
    while (!queue_.empty()) names.push_back(Pop());
    return names;
  }
  // Lets the lanes take turns.
  void TakeTurns() {
    order_.next = [this](std::span<const berth_lane> lanes) { return turns_++ % lanes.size(); };
  }

  TestObjects objects_;
  TestOrder order_;
  std::deque<QueueEntry> entries_;  // A deque, because entries must not move.
  ActiveQueue queue_{order_};
  size_t turns_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Orders, ActiveQueueTest, ::testing::Bool(),
                         [](const auto& of) { return of.param ? "Key" : "Less"; });

TEST_P(ActiveQueueTest, WithoutLanesItIsOneHeap) {
  order_.lane = nullptr;
  queue_.Rebuild();
  Push("low", 1, 1);
  QueueEntry& high = Push("high", 2, 9);
  EXPECT_THAT(queue_.lanes(), IsEmpty());
  EXPECT_TRUE(queue_.Contains(high));
  EXPECT_THAT(Drain(), ElementsAre("high", "low"));
  EXPECT_THAT(order_.offered, IsEmpty()) << "NextLane() was called";
}

TEST_P(ActiveQueueTest, OrderSelectsLanesThenKeyOrLess) {
  TakeTurns();
  Push("a1", 1, 1);
  Push("a9", 1, 9);
  Push("b5", 2, 5);
  Push("c0", 3, 0);
  Push("c7", 3, 7);
  EXPECT_EQ(queue_.size(), 5U);
  EXPECT_EQ(Pop(), "a9");
  EXPECT_THAT(order_.offered, ElementsAre("1:2:a9", "2:1:b5", "3:2:c7"));
  EXPECT_EQ(Pop(), "b5");
  EXPECT_THAT(order_.offered, ElementsAre("1:1:a1", "2:1:b5", "3:2:c7"));
  EXPECT_EQ(Pop(), "a1");
  EXPECT_THAT(order_.offered, ElementsAre("1:1:a1", "3:2:c7"));
  EXPECT_THAT(Drain(), ElementsAre("c7", "c0"));
  EXPECT_THAT(queue_.lanes(), IsEmpty());
}

TEST_P(ActiveQueueTest, EqualEntitiesOfLaneAreTakenBySequence) {
  for (const char* name : {"a", "b", "c", "d"}) Push(name, 1);
  EXPECT_THAT(Drain(), ElementsAre("a", "b", "c", "d"));
}

TEST_P(ActiveQueueTest, NumbersOfLanesMayBeAnything) {
  order_.lane = [](const berth_queued& queued) {
    return uint64_t{queued.attempts} * (UINT64_MAX / 2);
  };
  Push("middle", 1);
  Push("last", 2);
  Push("first", 0);
  EXPECT_THAT(Drain(), ElementsAre("first", "middle", "last"));
}

TEST_P(ActiveQueueTest, NextIsCalledOnceForEachEntity) {
  size_t calls = 0;
  order_.next = [&calls](std::span<const berth_lane>) { return ++calls, 0; };
  Push("a", 1);
  QueueEntry& b = Push("b", 1);
  Push("c", 2);
  queue_.Remove(b);
  EXPECT_EQ(calls, 0U);
  EXPECT_THAT(Drain(), ElementsAre("a", "c"));
  EXPECT_EQ(calls, 2U);
}

TEST_P(ActiveQueueTest, UpdateKeepsLaneAndRefreshesItsFirstEntity) {
  QueueEntry& a = Push("a", 1, 5);
  QueueEntry& b = Push("b", 1, 4);
  b.entity.pod = MakePod("b", 9);
  queue_.Update(b);
  queue_.CheckInvariants();
  queue_.Next();
  EXPECT_THAT(order_.offered, ElementsAre("1:2:b"));
  // Another lane would be determined for the entity now.
  b.entity.attempts = 7;
  b.entity.pod = MakePod("b", 1);
  queue_.Update(b);
  queue_.CheckInvariants();
  EXPECT_TRUE(queue_.Contains(b));
  queue_.Next();
  EXPECT_THAT(order_.offered, ElementsAre("1:2:a"));
  // The view of the first entity has its present pod.
  a.entity.pod = MakePod("a", 6);
  queue_.Update(a);
  EXPECT_EQ(queue_.lanes().front().first->pod, &a.entity.pod->view());
  EXPECT_EQ(queue_.lanes().front().first->priority, 6);
}

TEST_P(ActiveQueueTest, RebuildAppliesOtherLanesAndNone) {
  Push("a", 1, 1);
  Push("b", 1, 2);
  Push("c", 2, 3);
  order_.lane = [](const berth_queued& queued) { return uint64_t{queued.attempts == 1 ? 9U : 8U}; };
  order_.lowest_first = true;
  queue_.Rebuild();
  queue_.CheckInvariants();
  queue_.Next();
  EXPECT_THAT(order_.offered, ElementsAre("8:1:c", "9:2:a"));
  order_.lane = nullptr;
  order_.uses_key = !order_.uses_key;
  queue_.Rebuild();
  queue_.CheckInvariants();
  EXPECT_THAT(queue_.lanes(), IsEmpty());
  EXPECT_EQ(queue_.size(), 3U);
  UseLanes();
  order_.lowest_first = false;
  order_.uses_key = !order_.uses_key;
  queue_.Rebuild();
  queue_.CheckInvariants();
  queue_.Next();
  EXPECT_THAT(order_.offered, ElementsAre("1:2:b", "2:1:c"));
  EXPECT_THAT(Drain(), ElementsAre("b", "a", "c"));
}

// Many lanes that became empty leave no memory behind that is proportional to their number.
TEST_P(ActiveQueueTest, ReleasesTheMemoryOfEmptyLanes) {
  constexpr uint32_t kLanes = 5000;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    QueueEntry& entry = entries_.emplace_back();
    entry.entity.pod = lane == 0 ? MakePod("p", 0) : entries_.front().entity.pod;
    entry.entity.attempts = lane;
    queue_.Push(entry);
  }
  EXPECT_EQ(queue_.lanes().size(), kLanes);
  EXPECT_GE(queue_.lanes().capacity(), kLanes);
  for (size_t i = 10; i < kLanes; ++i) queue_.Remove(entries_[i]);
  EXPECT_EQ(queue_.lanes().size(), 10U);
  EXPECT_LE(queue_.lanes().capacity(), 64U);
  queue_.CheckInvariants();
}

TEST_P(ActiveQueueTest, RejectsIndexOutOfRangeAndUnknownEntry) {
  QueueEntry& a = Push("a", 1);
  order_.next = [](std::span<const berth_lane> lanes) { return lanes.size(); };
  EXPECT_DEATH(queue_.Next(), "index < ");
  queue_.Remove(a);
  EXPECT_DEATH(queue_.Remove(a), "size_ > 0");
  EXPECT_FALSE(queue_.Contains(a));
}

// Compares the queue with lists that are searched before every access.
TEST_P(ActiveQueueTest, RandomOperationsAgreeWithALinearSearch) {
  std::mt19937 random(11);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  TakeTurns();
  size_t turns = 0;
  std::map<uint64_t, std::vector<QueueEntry*>> lanes;
  const auto rank = [](const QueueEntry* entry) {
    return std::tuple(-entry->entity.pod->view().priority, entry->sequence);
  };
  const auto any_lane = [&] {
    return std::next(lanes.begin(), static_cast<ptrdiff_t>(below(lanes.size())));
  };
  for (uint32_t step = 0; step < 3000; ++step) {
    const auto priority = static_cast<int32_t>(below(4)) - 2;
    const size_t what = below(10);
    if (what < 5 || lanes.empty()) {
      const auto lane = static_cast<uint32_t>(below(6));
      lanes[lane].push_back(&Push("p" + std::to_string(step), lane, priority));
      continue;
    }
    auto lane = any_lane();
    size_t index = below(lane->second.size());
    if (what < 7) {
      QueueEntry& entry = *lane->second[index];
      entry.entity.pod = MakePod(std::string(entry.entity.pod->name()), priority);
      queue_.Update(entry);
      queue_.CheckInvariants();
      continue;
    }
    if (what > 7) {
      lane = std::next(lanes.begin(), static_cast<ptrdiff_t>(turns++ % lanes.size()));
      const auto first = std::ranges::min_element(lane->second, {}, rank);
      ASSERT_EQ(&queue_.Next(), *first);
      index = static_cast<size_t>(first - lane->second.begin());
    }
    queue_.Remove(*lane->second[index]);
    queue_.CheckInvariants();
    lane->second.erase(lane->second.begin() + static_cast<ptrdiff_t>(index));
    if (lane->second.empty()) lanes.erase(lane);
  }
}

}  // namespace
}  // namespace berth::host
