#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/active_queue.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class EntityHeapTest : public ::testing::TestWithParam<bool> {
 protected:
  EntityHeapTest() {
    order_.uses_key = GetParam();
    heap_.Rebuild();
  }

  PodRef MakePod(const std::string& name, int32_t priority) {
    return objects_.Pod({.name = name, .spec = "\"priority\":" + std::to_string(priority)});
  }
  QueueEntry& Make(const std::string& name, int32_t priority) {
    QueueEntry& entry = entries_.emplace_back();
    entry.entity.pod = MakePod(name, priority);
    entry.sequence = entries_.size();
    return entry;
  }
  QueueEntry& Push(const std::string& name, int32_t priority, int64_t window = 0) {
    QueueEntry& entry = Make(name, priority);
    heap_.Push(entry, window);
    return entry;
  }
  std::vector<std::string> Drain() {
    std::vector<std::string> names;
    while (!heap_.empty()) {
      heap_.CheckInvariants();
      names.emplace_back(heap_.front().entity.pod->name());
      heap_.Remove(heap_.front());
    }
    return names;
  }

  TestObjects objects_;
  TestOrder order_;
  std::deque<QueueEntry> entries_;  // A deque, because entries must not move.
  EntityHeap heap_{order_};
};
INSTANTIATE_TEST_SUITE_P(Orders, EntityHeapTest, ::testing::Bool(),
                         [](const auto& of) { return of.param ? "Key" : "Less"; });

TEST_P(EntityHeapTest, PopsInTheOrderOfQueueSort) {
  Push("low", -5);
  Push("high", 7);
  Push("middle", 0);
  EXPECT_EQ(heap_.size(), 3U);
  EXPECT_THAT(Drain(), ElementsAre("high", "middle", "low"));
}

TEST_P(EntityHeapTest, EqualEntitiesArePoppedBySequence) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) Push(name, 1);
  QueueEntry& late = Make("early", 1);
  late.sequence = 0;
  heap_.Push(late);
  EXPECT_THAT(Drain(), ElementsAre("early", "a", "b", "c", "d", "e", "f"));
}

TEST_P(EntityHeapTest, WindowsTakePrecedenceOverTheOrder) {
  Push("late and high", 9, 2);
  Push("early and low", 0, 1);
  Push("early and high", 9, 1);
  EXPECT_EQ(heap_.front_window(), 1);
  EXPECT_THAT(Drain(), ElementsAre("early and high", "early and low", "late and high"));
}

TEST_P(EntityHeapTest, UpdateMovesUpAndDownWithinTheWindow) {
  QueueEntry& a = Push("a", 1);
  Push("b", 2);
  QueueEntry& c = Push("c", 3);
  QueueEntry& d = Push("d", 0, 1);
  a.entity.pod = MakePod("a", 9);
  heap_.Update(a);
  c.entity.pod = MakePod("c", 0);
  heap_.Update(c);
  d.entity.pod = MakePod("d", 99);
  heap_.Update(d);
  EXPECT_THAT(Drain(), ElementsAre("a", "b", "c", "d"));
}

TEST_P(EntityHeapTest, RemovesFromEveryPosition) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  for (size_t victim = 0; victim < names.size(); ++victim) {
    std::vector<QueueEntry*> pushed;
    for (const std::string& name : names) {
      pushed.push_back(&Push(name, static_cast<int32_t>(victim * pushed.size() % 7)));
    }
    std::vector<QueueEntry*> rest = pushed;
    std::erase(rest, pushed[victim]);
    std::ranges::stable_sort(rest, [](const QueueEntry* a, const QueueEntry* b) {
      return a->entity.pod->view().priority > b->entity.pod->view().priority;
    });
    EXPECT_TRUE(heap_.Contains(*pushed[victim]));
    heap_.Remove(*pushed[victim]);
    EXPECT_FALSE(heap_.Contains(*pushed[victim]));
    std::vector<std::string> expected;
    for (const QueueEntry* entry : rest) expected.emplace_back(entry->entity.pod->name());
    EXPECT_EQ(Drain(), expected);
  }
}

TEST_P(EntityHeapTest, RejectsASecondPushAndAnUnknownRemove) {
  QueueEntry& a = Push("a", 1);
  EXPECT_DEATH(heap_.Push(a), "already in this heap");
  EXPECT_DEATH(heap_.Remove(Make("b", 1)), "Contains");
}

TEST_P(EntityHeapTest, RebuildAppliesTheNewOrder) {
  for (int32_t i = 0; i < 20; ++i) Push("p" + std::to_string(i), i * 7 % 20);
  Push("last window", 100, 1);
  order_.lowest_first = true;
  order_.uses_key = !order_.uses_key;
  heap_.Rebuild();
  heap_.CheckInvariants();
  int32_t expected = 0;
  for (; expected < 20; ++expected) {
    EXPECT_EQ(heap_.front().entity.pod->view().priority, expected);
    heap_.Remove(heap_.front());
  }
  EXPECT_THAT(Drain(), ElementsAre("last window"));
}

// Keys compare byte by byte from the first to the last, each from 0 to 255.
TEST(EntityHeapKeyTest, ComparesEveryByteOfTheKey) {
  class ByAttempts final : public QueueOrder {
   public:
    bool has_key() const override { return true; }
    SortKey KeyOf(const berth_queued& queued) const override {
      SortKey key{};
      key[queued.attempts / 256] = static_cast<uint8_t>(queued.attempts % 256);
      return key;
    }
    bool Less(const berth_queued&, const berth_queued&) const override { return false; }
  };
  const ByAttempts order;
  EntityHeap heap(order);
  TestObjects objects;
  std::deque<QueueEntry> entries;
  // A key whose non-zero byte is later comes first; within one byte, the lower value comes first.
  std::vector<uint32_t> expected;
  for (uint32_t byte = BERTH_SORT_KEY_SIZE; byte-- > 0;) {
    for (const uint32_t value : {1U, 127U, 128U, 255U}) expected.push_back(byte * 256 + value);
  }
  std::vector<uint32_t> shuffled = expected;
  std::ranges::shuffle(shuffled, std::mt19937(1));
  for (const uint32_t attempts : shuffled) {
    QueueEntry& entry = entries.emplace_back();
    entry.entity.pod = objects.Pod({.name = "p"});
    entry.entity.attempts = attempts;
    heap.Push(entry);
  }
  for (const uint32_t attempts : expected) {
    EXPECT_EQ(heap.front().entity.attempts, attempts);
    heap.Remove(heap.front());
  }
}

// Compares the heap with a list that is searched before every access.
TEST_P(EntityHeapTest, RandomOperationsAgreeWithALinearSearch) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const auto rank = [](const std::pair<QueueEntry*, int64_t>& of) {
    return std::tuple(of.second, -of.first->entity.pod->view().priority, of.first->sequence);
  };
  std::vector<std::pair<QueueEntry*, int64_t>> list;
  for (uint32_t step = 0; step < 5000; ++step) {
    const auto priority = static_cast<int32_t>(below(5)) - 2;
    const size_t what = below(10);
    if (what < 5 || list.empty()) {
      const auto window = static_cast<int64_t>(below(3));
      list.emplace_back(&Push("p" + std::to_string(step), priority, window), window);
    } else if (what < 7) {
      QueueEntry& entry = *list[below(list.size())].first;
      entry.entity.pod = MakePod(std::string(entry.entity.pod->name()), priority);
      heap_.Update(entry);
    } else if (what == 7) {
      const size_t victim = below(list.size());
      heap_.Remove(*list[victim].first);
      list.erase(list.begin() + static_cast<ptrdiff_t>(victim));
    } else {
      const auto first = std::ranges::min_element(list, {}, rank);
      ASSERT_EQ(&heap_.front(), first->first);
      ASSERT_EQ(heap_.front_window(), first->second);
      heap_.Remove(heap_.front());
      list.erase(first);
    }
    ASSERT_EQ(heap_.size(), list.size());
    if (step % 100 == 0) heap_.CheckInvariants();
  }
}

}  // namespace
}  // namespace berth::host
