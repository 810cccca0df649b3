#include "host/queue/active_queue.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// Higher priority first, as a key and as a comparison.
class ByKey final : public QueueOrder {
 public:
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued& queued) const override {
    SortKey key{};
    const auto value = ~(static_cast<uint32_t>(queued.priority) ^ 0x80000000U);
    for (uint32_t i = 0; i < 4; ++i) key[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
    return key;
  }
  bool Less(const berth_queued&, const berth_queued&) const override {
    ADD_FAILURE() << "an order with keys is not compared";
    return false;
  }
};

class ByLess final : public QueueOrder {
 public:
  bool has_key() const override { return false; }
  SortKey KeyOf(const berth_queued&) const override {
    ADD_FAILURE() << "an order without keys has none";
    return {};
  }
  bool Less(const berth_queued& a, const berth_queued& b) const override {
    return a.priority > b.priority;
  }
};

class ActiveQueueTest : public ::testing::TestWithParam<bool> {
 protected:
  const QueueOrder& order() const {
    return GetParam() ? static_cast<const QueueOrder&>(by_key_) : by_less_;
  }
  PodRef MakePod(const std::string& name, int32_t priority) {
    return objects_.Pod({.name = name, .spec = "\"priority\":" + std::to_string(priority)});
  }
  void Push(const std::string& name, int32_t priority) {
    queue_.Push({.pod = MakePod(name, priority)});
  }
  std::vector<std::string> Drain() {
    std::vector<std::string> names;
    while (!queue_.empty()) names.emplace_back(queue_.Pop().pod->name());
    return names;
  }

  TestObjects objects_;
  ByKey by_key_;
  ByLess by_less_;
  ActiveQueue queue_{order()};
};
INSTANTIATE_TEST_SUITE_P(Orders, ActiveQueueTest, ::testing::Bool(),
                         [](const auto& of) { return of.param ? "Key" : "Less"; });

TEST_P(ActiveQueueTest, LeavesInTheOrdersOrder) {
  Push("low", -5);
  Push("high", 7);
  Push("middle", 0);
  EXPECT_EQ(queue_.size(), 3U);
  EXPECT_THAT(Drain(), ElementsAre("high", "middle", "low"));
}

TEST_P(ActiveQueueTest, EqualsLeaveAsTheyCame) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Push(name, 1);
  Push("first", 2);
  EXPECT_THAT(Drain(), ElementsAre("first", "a", "b", "c", "d", "e"));
}

TEST_P(ActiveQueueTest, WhoComesAgainStandsBehindItsEquals) {
  Push("a", 1);
  Push("b", 1);
  queue_.Push(queue_.Pop());
  EXPECT_THAT(Drain(), ElementsAre("b", "a"));
}

TEST_P(ActiveQueueTest, UpdateMovesBothWays) {
  Push("a", 1);
  Push("b", 2);
  Push("c", 3);
  EXPECT_TRUE(queue_.Update(MakePod("a", 9)));
  EXPECT_TRUE(queue_.Update(MakePod("c", 0)));
  EXPECT_THAT(Drain(), ElementsAre("a", "b", "c"));
}

TEST_P(ActiveQueueTest, UpdateReplacesThePodAndKeepsWhatTheQueueKnows) {
  queue_.Push({.pod = MakePod("a", 1), .attempts = 3, .queued_ns = 40, .first_attempt_ns = 20});
  const PodRef now = MakePod("a", 1);
  EXPECT_TRUE(queue_.Update(now));
  EXPECT_FALSE(queue_.Update(MakePod("b", 1)));
  const QueuedEntity entity = queue_.Pop();
  EXPECT_EQ(entity.pod, now);
  EXPECT_EQ(entity.attempts, 3U);
  EXPECT_EQ(entity.queued_ns, 40);
  EXPECT_EQ(entity.first_attempt_ns, 20);
}

TEST_P(ActiveQueueTest, UpdateWithoutAChangeKeepsThePlaceAmongEquals) {
  Push("a", 1);
  Push("b", 1);
  EXPECT_TRUE(queue_.Update(MakePod("a", 1)));
  EXPECT_THAT(Drain(), ElementsAre("a", "b"));
}

TEST_P(ActiveQueueTest, RemovesFromEveryPlace) {
  for (const char* victim : {"a", "b", "c", "d", "e", "f", "g"}) {
    std::vector<std::string> rest;
    int32_t priority = 7;
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
      Push(name, priority--);
      if (std::string_view(name) != victim) rest.emplace_back(name);
    }
    EXPECT_TRUE(queue_.Contains(std::string("uid-") + victim));
    EXPECT_TRUE(queue_.Remove(std::string("uid-") + victim));
    EXPECT_FALSE(queue_.Contains(std::string("uid-") + victim));
    EXPECT_FALSE(queue_.Remove(std::string("uid-") + victim));
    EXPECT_EQ(Drain(), rest);
  }
}

TEST_P(ActiveQueueTest, ViewShowsPodAndQueueData) {
  const QueuedEntity entity{
      .pod = MakePod("a", 11), .attempts = 2, .queued_ns = 5, .first_attempt_ns = 4};
  const berth_queued view = entity.View();
  EXPECT_EQ(view.struct_size, sizeof(berth_queued));
  EXPECT_EQ(view.kind, uint32_t{BERTH_QUEUED_POD});
  EXPECT_EQ(view.pod, &entity.pod->view());
  EXPECT_EQ(view.group.len, 0U);
  EXPECT_EQ(view.priority, 11);
  EXPECT_EQ(view.attempts, 2U);
  EXPECT_EQ(view.queued_ns, 5);
  EXPECT_EQ(view.first_attempt_ns, 4);
}

TEST_P(ActiveQueueTest, PushingAPodTwiceIsABug) {
  Push("a", 1);
  EXPECT_DEATH(Push("a", 1), "an entity is in the active queue already");
}

// Against a list that is sorted anew before every look.
TEST_P(ActiveQueueTest, RandomOperationsAgreeWithAStableSort) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) {
      return std::uniform_int_distribution<uint32_t>(0, n - 1)(random);
    };
    std::vector<std::pair<std::string, int32_t>> list;  // In order of arrival.
    uint32_t names = 0;
    for (uint32_t step = 0; step < 2000; ++step) {
      const uint32_t what = below(10);
      const auto priority = static_cast<int32_t>(below(5)) - 2;
      if (what < 5 || list.empty()) {
        list.emplace_back("p" + std::to_string(names++), priority);
        Push(list.back().first, priority);
      } else if (what < 7) {
        auto& victim = list[below(static_cast<uint32_t>(list.size()))];
        victim.second = priority;
        ASSERT_TRUE(queue_.Update(MakePod(victim.first, priority)));
      } else if (what == 7) {
        const auto victim = list.begin() + below(static_cast<uint32_t>(list.size()));
        ASSERT_TRUE(queue_.Remove("uid-" + victim->first));
        list.erase(victim);
      } else {
        const auto first = std::ranges::min_element(
            list, [](const auto& a, const auto& b) { return a.second > b.second; });
        ASSERT_EQ(queue_.Pop().pod->name(), first->first);
        list.erase(first);
      }
      ASSERT_EQ(queue_.size(), list.size());
    }
    std::ranges::stable_sort(list,
                             [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& entry : list) ASSERT_EQ(queue_.Pop().pod->name(), entry.first);
    EXPECT_TRUE(queue_.empty());
  }
}

}  // namespace
}  // namespace berth::host
