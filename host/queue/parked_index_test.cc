#include "host/queue/parked_index.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint32_t kAdd = BERTH_ACTION_ADD;

class ParkedIndexTest : public ::testing::Test {
 protected:
  // Plugins 1 and 2 look at labels, 3 at the priority, 4 at each pod, 5 at nothing (it has
  // no hint).
  ParkedIndexTest() {
    const auto add = [this](PluginId plugin, uint64_t parts, bool has_hint = true) {
      interests_.push_back({.plugin = plugin,
                            .resource = BERTH_RESOURCE_NODE,
                            .actions = kAdd,
                            .has_hint = has_hint,
                            .pod_parts = parts});
    };
    add(1, BERTH_PART(LABELS));
    add(2, BERTH_PART(LABELS));
    add(3, BERTH_PART(PRIORITY));
    add(4, 0);
    add(5, 0, false);
    table_.Build(interests_);
  }

  PodRef MakePod(const std::string& name, const std::string& label, int32_t priority = 0) {
    return objects_.Pod({.name = name,
                         .spec = "\"priority\":" + std::to_string(priority),
                         .meta = R"("labels":{"v":")" + label + "\"}"});
  }
  void Update(QueueEntry& entry, PodRef pod) {
    index_.Update(entry, [&] { entry.entity.pod = std::move(pod); });
  }
  QueueEntry& Park(const std::string& name, const std::string& label, Rejection rejection,
                   int32_t priority = 0, QueuePlace place = QueuePlace::kUnschedulable) {
    QueueEntry& entry = entries_.emplace_back();
    entry.entity.pod = MakePod(name, label, priority);
    entry.entity.place = place;
    entry.entity.rejection = std::move(rejection);
    index_.Add(entry, ++now_ns_);
    index_.CheckInvariants();
    return entry;
  }
  // The names of those that an event helps of which every plugin has heard; "!" behind those that
  // need not back off. `yes`: what hints say, "plugin:pod" where it says yes.
  std::vector<std::string> Offer(const std::vector<std::string>& yes,
                                 const EntityFilter* which = nullptr) {
    std::vector<const Interest*> matching;
    table_.Find({.resource = BERTH_RESOURCE_NODE, .action = kAdd}, matching);
    std::vector<ParkedIndex::Helped> helped;
    asked_.clear();
    index_.Offer(
        matching, which,
        [&](const Interest& interest, const QueuedEntity& entity) {
          asked_.push_back(std::to_string(interest.plugin) + ":" + std::string(entity.pod->name()));
          return std::ranges::find(yes, asked_.back()) != yes.end();
        },
        helped);
    index_.CheckInvariants();
    std::vector<std::string> names;
    for (const auto& [entry, how] : helped) {
      names.push_back(std::string(entry->entity.pod->name()) +
                      (how == Requeueing::kImmediately ? "!" : ""));
    }
    return names;
  }

  TestObjects objects_;
  std::vector<Interest> interests_;
  InterestTable table_;
  std::deque<QueueEntry> entries_;
  ParkedIndex index_{table_};
  std::vector<std::string> asked_;
  int64_t now_ns_ = 0;
};

TEST_F(ParkedIndexTest, EqualPodsAreAskedAboutOnce) {
  Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {1}});
  Park("c", "y", {.plugins = {1}});
  EXPECT_THAT(Offer({"1:a"}), ElementsAre("a", "b"));
  EXPECT_THAT(asked_, UnorderedElementsAre("1:a", "1:c"));
}

TEST_F(ParkedIndexTest, WhatNobodyLooksAtMakesNoDifference) {
  Park("a", "x", {.plugins = {1}}, 5);
  Park("b", "x", {.plugins = {1}}, 7);
  Offer({});
  EXPECT_THAT(asked_, ElementsAre("1:a"));
}

TEST_F(ParkedIndexTest, WhatOneOfTheRejectorsLooksAtDoes) {
  Park("a", "x", {.plugins = {1, 3}}, 5);
  Park("b", "x", {.plugins = {1, 3}}, 7);
  Park("c", "y", {.plugins = {1, 3}}, 5);
  EXPECT_THAT(Offer({"3:b"}), ElementsAre("b"));
  EXPECT_THAT(asked_, UnorderedElementsAre("1:a", "3:a", "1:b", "3:b", "1:c", "3:c"));
}

TEST_F(ParkedIndexTest, OtherRejectorsAreAnotherClass) {
  Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {2}});
  Park("c", "x", {.pending = {1}});
  EXPECT_THAT(Offer({"1:a", "1:c"}), UnorderedElementsAre("a", "c!"));
  EXPECT_THAT(asked_, UnorderedElementsAre("1:a", "2:b", "1:c"));
}

TEST_F(ParkedIndexTest, GatedPodsAreNotLikeRejectedOnes) {
  Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {1}}, 0, QueuePlace::kGated);
  EXPECT_THAT(Offer({"1:b"}), ElementsAre("b"));
  EXPECT_THAT(asked_, UnorderedElementsAre("1:a", "1:b"));
}

TEST_F(ParkedIndexTest, AHintThatLooksAtEverythingIsAskedAboutEachPod) {
  Park("a", "x", {.plugins = {4}});
  Park("b", "x", {.plugins = {4}});
  EXPECT_THAT(Offer({"4:b"}), ElementsAre("b"));
  EXPECT_THAT(asked_, UnorderedElementsAre("4:a", "4:b"));
}

TEST_F(ParkedIndexTest, WithoutAHintNobodyIsAsked) {
  Park("a", "x", {.plugins = {5}});
  Park("b", "y", {.plugins = {5}});
  Park("c", "y", {.pending = {5}});
  EXPECT_THAT(Offer({}), UnorderedElementsAre("a", "b", "c!"));
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(ParkedIndexTest, WhoRejectedNothingIsNotAsked) {
  Park("a", "x", {.plugins = {77}});
  EXPECT_THAT(Offer({}), IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(ParkedIndexTest, AFilterChoosesWhoIsLookedAt) {
  Park("a", "x", {.plugins = {1}}, 9);
  Park("b", "x", {.plugins = {1}}, 1);
  Park("c", "x", {.plugins = {1}}, 2);
  Park("d", "y", {.plugins = {1}}, 9);
  const EntityFilter is_low = [](const QueuedEntity& entity) {
    return entity.pod->view().priority < 5;
  };
  EXPECT_THAT(Offer({"1:b"}, &is_low), ElementsAre("b", "c"));
  EXPECT_THAT(asked_, ElementsAre("1:b")) << "nobody of d's class is meant";
}

// Rejected by `plugins` and pending on `pending`; the hints of `yes` say yes.
struct JudgeCase {
  const char* sentence;
  std::vector<PluginId> plugins;
  std::vector<PluginId> pending;
  std::vector<std::string> yes;
  Requeueing how;
  std::vector<std::string> asked;
};

TEST_F(ParkedIndexTest, JudgesByWhoSaysYes) {
  const JudgeCase cases[] = {
      {"nobody", {1, 2}, {}, {}, Requeueing::kSkip, {"1:a", "2:a"}},
      {"one is enough", {1, 2}, {}, {"1:a"}, Requeueing::kAfterBackoff, {"1:a"}},
      {"the other", {1, 2}, {}, {"2:a"}, Requeueing::kAfterBackoff, {"1:a", "2:a"}},
      {"pending: no backoff", {}, {1}, {"1:a"}, Requeueing::kImmediately, {"1:a"}},
      {"pending wins", {1}, {2}, {"1:a", "2:a"}, Requeueing::kImmediately, {"2:a"}},
      {"pending says no", {1}, {2}, {"1:a"}, Requeueing::kAfterBackoff, {"2:a", "1:a"}},
      {"without a hint: always", {5}, {1}, {}, Requeueing::kAfterBackoff, {"1:a"}},
      {"in both sets", {1}, {1}, {"1:a"}, Requeueing::kImmediately, {"1:a"}},
      {"in both sets, and no", {1}, {1}, {}, Requeueing::kSkip, {"1:a", "1:a"}},
  };
  for (const JudgeCase& c : cases) {
    SCOPED_TRACE(c.sentence);
    QueueEntry& entry = Park("a", "x", {.plugins = c.plugins, .pending = c.pending});
    const auto helped = Offer(c.yes);
    EXPECT_EQ(asked_, c.asked);
    const std::vector<std::string> expected[] = {{}, {"a"}, {"a!"}};
    EXPECT_EQ(helped, expected[static_cast<size_t>(c.how)]);
    index_.Remove(entry);
  }
}

TEST_F(ParkedIndexTest, AChangedPodChangesItsClass) {
  QueueEntry& a = Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {1}});
  Update(a, MakePod("a", "y"));
  index_.CheckInvariants();
  EXPECT_THAT(Offer({"1:b"}), ElementsAre("b"));
  EXPECT_THAT(asked_, UnorderedElementsAre("1:a", "1:b"));
  Update(a, MakePod("a", "x"));
  EXPECT_THAT(Offer({"1:b"}), UnorderedElementsAre("a", "b"));
}

TEST_F(ParkedIndexTest, NothingIsLeftOfWhoWasRemoved) {
  QueueEntry& a = Park("a", "x", {.plugins = {1, 2}});
  QueueEntry& b = Park("b", "x", {.plugins = {1, 2}});
  QueueEntry& c = Park("c", "y", {.plugins = {1, 2}, .pending = {4}});
  index_.Remove(a);
  index_.CheckInvariants();
  EXPECT_THAT(Offer({"1:b"}), ElementsAre("b"));
  index_.Remove(b);
  index_.CheckInvariants();
  index_.Remove(c);
  index_.CheckInvariants();
  EXPECT_THAT(Offer({"1:a", "1:b", "1:c"}), IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_TRUE(index_.entries().empty());
}

TEST_F(ParkedIndexTest, KeepsTheOrderInWhichTheyWereParked) {
  QueueEntry& a = Park("a", "x", {.plugins = {1}});
  QueueEntry& b = Park("b", "y", {.plugins = {2}});
  Update(a, MakePod("a", "z"));
  EXPECT_EQ(index_.entries().front(), &a);
  EXPECT_EQ(a.next, &b);
  index_.Remove(a);
  index_.Add(a, ++now_ns_);
  EXPECT_EQ(index_.entries().front(), &b);
  EXPECT_EQ(a.parked_ns, now_ns_);
}

TEST_F(ParkedIndexTest, RebuildTakesTheNewInterests) {
  Park("a", "x", {.plugins = {4}}, 1);
  Park("b", "x", {.plugins = {4}}, 1);
  Park("c", "x", {.plugins = {4}}, 2);
  for (Interest& interest : interests_) interest.pod_parts = BERTH_PART(PRIORITY);
  table_.Build(interests_);
  index_.Rebuild();
  index_.CheckInvariants();
  EXPECT_THAT(Offer({"4:a"}), ElementsAre("a", "b"));
  EXPECT_THAT(asked_, UnorderedElementsAre("4:a", "4:c"));
}

TEST_F(ParkedIndexTest, WhomNobodyRejectedNobodyWouldWake) {
  EXPECT_DEATH(Park("a", "x", {}), "nobody would ever wake the pod");
}

}  // namespace
}  // namespace berth::host
