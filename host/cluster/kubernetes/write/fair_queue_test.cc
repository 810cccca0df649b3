#include "host/cluster/kubernetes/write/fair_queue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <string>
#include <utility>
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

// An item of the model.
struct ModelItem {
  std::string key;
  std::string ns;
  QueueRank rank;
  size_t bytes;
};

// Does the same as FairQueue, and searches through all items for it.
class ModelQueue {
 public:
  void Push(const ModelItem& item) {
    std::list<std::string>& turns = turns_[item.rank];
    const bool is_known = std::ranges::find(turns, item.ns) != turns.end();
    if (item.rank != QueueRank::kLater && !is_known) turns.push_back(item.ns);
    items_.push_back(item);
  }
  std::string Pop() {
    std::array<QueueRank, 2> ranks = {kFirst, kRepeat};
    if (++pops_ % 4 == 0) std::swap(ranks[0], ranks[1]);
    for (const QueueRank rank : ranks) {
      if (turns_[rank].empty()) continue;
      const std::string ns = turns_[rank].front();
      turns_[rank].pop_front();
      turns_[rank].push_back(ns);
      return Take(*Of(ns, rank).begin());
    }
    return "";
  }
  std::string Drop() {
    std::map<std::string, size_t> bytes;
    for (const ModelItem& item : items_) bytes[item.ns] += item.bytes;
    const auto largest = std::ranges::max_element(
        bytes, {}, [](const auto& line) { return std::pair(line.second, line.first); });
    for (const QueueRank rank : {kRepeat, QueueRank::kLater}) {
      const auto items = Of(largest->first, rank);
      if (!items.empty()) return Take(items.front());
    }
    return Take(Of(largest->first, kFirst).back());
  }
  std::string Take(size_t index) {
    const ModelItem item = items_[index];
    items_.erase(items_.begin() + static_cast<ptrdiff_t>(index));
    if (Of(item.ns, item.rank).empty()) turns_[item.rank].remove(item.ns);
    return item.key;
  }
  size_t bytes() const {
    size_t sum = 0;
    for (const ModelItem& item : items_) sum += item.bytes;
    return sum;
  }
  std::vector<ModelItem>& items() { return items_; }

 private:
  // Returns the indexes of the items, by age.
  std::vector<size_t> Of(const std::string& ns, QueueRank rank) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].ns == ns && items_[i].rank == rank) found.push_back(i);
    }
    return found;
  }

  std::vector<ModelItem> items_;  // By age.
  std::map<QueueRank, std::list<std::string>> turns_;
  uint64_t pops_ = 0;
};

TEST_F(FairQueueTest, AgreesWithASimpleModel) {
  constexpr std::array kRanks = {kFirst, kRepeat, QueueRank::kLater};
  std::mt19937 random(1);
  ModelQueue model;
  for (int step = 0; step < 20'000; ++step) {
    const auto choice = random() % 10;
    if (choice < 5) {
      const ModelItem item = {.key = std::to_string(step),
                              .ns = std::string(1, static_cast<char>('a' + random() % 5)),
                              .rank = kRanks[random() % kRanks.size()],
                              .bytes = random() % 50};
      Push(item.ns, item.key, item.rank, item.bytes);
      model.Push(item);
    } else if (choice < 7) {
      ASSERT_EQ(queue_.Pop().value_or(""), model.Pop()) << step;
    } else if (model.items().empty()) {
      ASSERT_TRUE(queue_.empty());
    } else if (choice < 8) {
      ASSERT_EQ(queue_.Drop(), model.Drop()) << step;
    } else {
      const size_t index = random() % model.items().size();
      ModelItem& item = model.items()[index];
      if (choice == 8) {
        ASSERT_EQ(queue_.Remove(item.key), item.key) << step;
        model.Take(index);
      } else {
        item.bytes = random() % 50;
        ASSERT_EQ(queue_.Replace(item.key, item.bytes, item.key), item.key) << step;
      }
    }
    ASSERT_EQ(queue_.bytes(), model.bytes()) << step;
    ASSERT_EQ(queue_.size(), model.items().size()) << step;
  }
}

}  // namespace
}  // namespace berth::host
