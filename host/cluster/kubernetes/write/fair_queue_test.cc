#include "host/cluster/kubernetes/write/fair_queue.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

constexpr QueueRank kFirst = QueueRank::kFirst;
constexpr QueueRank kRepeat = QueueRank::kRepeat;

class FairQueueTest : public ::testing::Test {
 protected:
  // The item is its own key.
  void Push(const std::string& ns, const std::string& item, QueueRank rank = kFirst,
            size_t bytes = 10) {
    queue_.Push(item, ns, rank, bytes, item);
  }
  std::string PopAll() {
    std::string items;
    while (const auto item = queue_.Pop()) items.append(items.empty() ? "" : " ").append(*item);
    return items;
  }

  FairQueue<std::string> queue_;
  std::string last_skipped_;
};

TEST_F(FairQueueTest, NamespacesTakeTurns) {
  for (const char* item : {"a1", "a2", "a3", "a4"}) Push("a", item);
  Push("b", "b1");
  Push("c", "c1");
  Push("c", "c2");
  EXPECT_EQ(queue_.size(), 7U);
  EXPECT_EQ(queue_.bytes(), 70U);
  EXPECT_EQ(PopAll(), "a1 b1 c1 a2 c2 a3 a4");
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.bytes(), 0U);
}

TEST_F(FairQueueTest, NamespaceThatComesLateWaitsForOneTurn) {
  for (const char* item : {"a1", "a2", "a3"}) Push("a", item);
  EXPECT_EQ(queue_.Pop(), "a1");
  Push("b", "b1");
  EXPECT_EQ(queue_.Pop(), "a2");
  EXPECT_EQ(queue_.Pop(), "b1");
  EXPECT_EQ(queue_.Pop(), "a3");
}

TEST_F(FairQueueTest, FirstEventsLeaveBeforeRepeats) {
  Push("a", "again1", kRepeat);
  Push("a", "again2", kRepeat);
  Push("b", "again3", kRepeat);
  Push("a", "new1");
  Push("a", "new2");
  EXPECT_EQ(PopAll(), "new1 new2 again1 again3 again2");
}

TEST_F(FairQueueTest, RepeatsAreNotStarved) {
  for (const char* item : {"r1", "r2"}) Push("a", item, kRepeat);
  for (const char* item : {"f1", "f2", "f3", "f4", "f5", "f6", "f7"}) Push("b", item);
  EXPECT_EQ(PopAll(), "f1 f2 f3 r1 f4 f5 f6 r2 f7");
}

TEST_F(FairQueueTest, LaterItemsTakeNoTurn) {
  Push("a", "later", QueueRank::kLater);
  EXPECT_EQ(queue_.Pop(), std::nullopt);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(queue_.bytes(), 10U);
  EXPECT_EQ(queue_.Remove("later"), "later");
  EXPECT_EQ(queue_.Remove("later"), std::nullopt);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(FairQueueTest, LaterItemsAreLostBeforeFirstOnes) {
  Push("a", "first");
  Push("a", "later", QueueRank::kLater);
  Push("a", "again", kRepeat);
  Push("b", "other", QueueRank::kLater, 5);
  EXPECT_EQ(queue_.Drop(), "again");
  EXPECT_EQ(queue_.Drop(), "later");
  EXPECT_EQ(queue_.Drop(), "first");
  EXPECT_EQ(queue_.Drop(), "other");
}

TEST_F(FairQueueTest, LargestNamespaceLosesRepeatsFirst) {
  Push("a", "a1", kFirst, 10);
  Push("a", "a2", kFirst, 10);
  Push("a", "a3", kRepeat, 10);
  Push("a", "a4", kRepeat, 10);
  Push("b", "b1", kRepeat, 19);
  EXPECT_EQ(queue_.Drop(), "a3") << "the oldest repeat of the larger namespace";
  EXPECT_EQ(queue_.Drop(), "a4");
  EXPECT_EQ(queue_.Drop(), "a2") << "the newest first event: 20 bytes against 19";
  EXPECT_EQ(queue_.Drop(), "b1");
  EXPECT_EQ(queue_.Drop(), "a1");
  EXPECT_TRUE(queue_.empty());
}

TEST_F(FairQueueTest, ReplacedItemGivesItsPlaceAway) {
  queue_.Push("key", "a", kRepeat, 10, "old");
  Push("a", "last", kRepeat);
  EXPECT_EQ(queue_.Replace("other", 5, "new"), std::nullopt);
  EXPECT_EQ(queue_.Replace("key", 25, "new"), "old");
  EXPECT_EQ(queue_.size(), 2U);
  EXPECT_EQ(queue_.bytes(), 35U);
  EXPECT_EQ(PopAll(), "new last");
  EXPECT_EQ(queue_.Replace("key", 5, "new"), std::nullopt) << "it has left";
}

// Compares with a model that searches through all items.
TEST_F(FairQueueTest, AgreesWithASimpleModel) {
  struct Item {
    std::string ns;
    QueueRank rank;
    size_t bytes;
  };
  std::mt19937 random(1);
  std::vector<std::pair<std::string, Item>> model;  // In the order of arrival.
  const auto remove = [&](const std::string& item) {
    const auto found = std::ranges::find(model, item, [](const auto& each) { return each.first; });
    ASSERT_NE(found, model.end()) << item;
    const Item taken = found->second;
    for (auto before = model.begin(); before != found; ++before) {
      const bool is_same_line = before->second.ns == taken.ns && before->second.rank == taken.rank;
      if (is_same_line) last_skipped_ = before->first;
    }
    model.erase(found);
  };
  uint64_t pops = 0;
  for (int step = 0; step < 4'000; ++step) {
    const auto choice = random() % 10;
    if (choice < 5) {
      const std::string item = std::to_string(step);
      const std::string ns(1, static_cast<char>('a' + random() % 5));
      const QueueRank rank = random() % 2 == 0 ? kFirst : kRepeat;
      const size_t bytes = 1 + random() % 50;
      Push(ns, item, rank, bytes);
      model.push_back({item, {ns, rank, bytes}});
    } else if (choice < 8) {
      const auto item = queue_.Pop();
      ++pops;
      ASSERT_EQ(item.has_value(), !model.empty());
      if (!item) continue;
      const bool has_first =
          std::ranges::any_of(model, [](const auto& each) { return each.second.rank == kFirst; });
      const auto found =
          std::ranges::find(model, *item, [](const auto& each) { return each.first; });
      ASSERT_NE(found, model.end());
      const bool has_repeat =
          std::ranges::any_of(model, [](const auto& each) { return each.second.rank == kRepeat; });
      const bool wants_repeat = pops % 4 == 0 ? has_repeat : !has_first;
      EXPECT_EQ(found->second.rank, wants_repeat ? kRepeat : kFirst);
      last_skipped_.clear();
      remove(*item);
      EXPECT_EQ(last_skipped_, "") << *item << " is not the oldest of its namespace and rank";
    } else if (!model.empty()) {
      std::map<std::string, size_t> bytes;
      for (const auto& [item, each] : model) bytes[each.ns] += each.bytes;
      const std::string item = queue_.Drop();
      const auto found =
          std::ranges::find(model, item, [](const auto& each) { return each.first; });
      ASSERT_NE(found, model.end());
      for (const auto& [ns, size] : bytes) EXPECT_LE(size, bytes[found->second.ns]);
      remove(item);
    }
    size_t total = 0;
    for (const auto& [item, each] : model) total += each.bytes;
    ASSERT_EQ(queue_.bytes(), total);
    ASSERT_EQ(queue_.size(), model.size());
  }
}

}  // namespace
}  // namespace berth::host
