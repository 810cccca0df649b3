#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/event_matcher.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint32_t kAdd = BERTH_ACTION_ADD;

class ParkedIndexTest : public ::testing::Test {
 protected:
  // The hints of plugins 1 and 2 depend on labels, those of 3 on the priority, those of 4 on the
  // whole pod. Plugin 5 has no hint.
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
    entry.entity.SetRejection(std::move(rejection));
    index_.Add(entry, ++now_ns_);
    index_.CheckInvariants();
    return entry;
  }
  // Returns the names of the pods that an event for all plugins requeues, with "!" appended for
  // those that skip the backoff. `yes` lists the hint calls that return true, as "plugin:pod".
  std::vector<std::string> SelectForRequeue(const std::vector<std::string>& yes,
                                            const EntityFilter* filter = nullptr) {
    std::vector<const Interest*> matching;
    table_.Find({.resource = BERTH_RESOURCE_NODE, .action = kAdd}, matching);
    std::vector<ParkedIndex::RequeuedEntry> requeued;
    hint_calls_.clear();
    index_.SelectForRequeue(
        matching, filter,
        [&](const Interest& interest, const QueuedEntity& entity) {
          hint_calls_.push_back(std::to_string(interest.plugin) + ":" +
                                std::string(entity.pod->name()));
          return std::ranges::find(yes, hint_calls_.back()) != yes.end();
        },
        requeued);
    index_.CheckInvariants();
    std::vector<std::string> names;
    for (const auto& [entry, how] : requeued) {
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
  std::vector<std::string> hint_calls_;
  int64_t now_ns_ = 0;
};

TEST_F(ParkedIndexTest, CallsTheHintOnceForEqualPods) {
  Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {1}});
  Park("c", "y", {.plugins = {1}});
  EXPECT_THAT(SelectForRequeue({"1:a"}), ElementsAre("a", "b"));
  EXPECT_THAT(hint_calls_, UnorderedElementsAre("1:a", "1:c"));
}

TEST_F(ParkedIndexTest, IgnoresPodPartsThatNoRejectorDependsOn) {
  Park("a", "x", {.plugins = {1}}, 5);
  Park("b", "x", {.plugins = {1}}, 7);
  SelectForRequeue({});
  EXPECT_THAT(hint_calls_, ElementsAre("1:a"));
}

TEST_F(ParkedIndexTest, DistinguishesPodPartsThatAnyRejectorDependsOn) {
  Park("a", "x", {.plugins = {1, 3}}, 5);
  Park("b", "x", {.plugins = {1, 3}}, 7);
  Park("c", "y", {.plugins = {1, 3}}, 5);
  EXPECT_THAT(SelectForRequeue({"3:b"}), ElementsAre("b"));
  EXPECT_THAT(hint_calls_, UnorderedElementsAre("1:a", "3:a", "1:b", "3:b", "1:c", "3:c"));
}

TEST_F(ParkedIndexTest, PodsWithOtherRejectorsAreAnotherClass) {
  Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {2}});
  Park("c", "x", {.pending = {1}});
  EXPECT_THAT(SelectForRequeue({"1:a", "1:c"}), UnorderedElementsAre("a", "c!"));
  EXPECT_THAT(hint_calls_, UnorderedElementsAre("1:a", "2:b", "1:c"));
}

TEST_F(ParkedIndexTest, GatedAndRejectedPodsAreDifferentClasses) {
  Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {1}}, 0, QueuePlace::kGated);
  EXPECT_THAT(SelectForRequeue({"1:b"}), ElementsAre("b"));
  EXPECT_THAT(hint_calls_, UnorderedElementsAre("1:a", "1:b"));
}

TEST_F(ParkedIndexTest, CallsHintWithoutDeclaredPartsForEachPod) {
  Park("a", "x", {.plugins = {4}});
  Park("b", "x", {.plugins = {4}});
  EXPECT_THAT(SelectForRequeue({"4:b"}), ElementsAre("b"));
  EXPECT_THAT(hint_calls_, UnorderedElementsAre("4:a", "4:b"));
}

TEST_F(ParkedIndexTest, SelectsWithoutACallIfHintless) {
  Park("a", "x", {.plugins = {5}});
  Park("b", "y", {.plugins = {5}});
  Park("c", "y", {.pending = {5}});
  EXPECT_THAT(SelectForRequeue({}), UnorderedElementsAre("a", "b", "c!"));
  EXPECT_THAT(hint_calls_, IsEmpty());
}

TEST_F(ParkedIndexTest, IgnoresPodsOfRejectorsWithoutInterests) {
  Park("a", "x", {.plugins = {77}});
  EXPECT_THAT(SelectForRequeue({}), IsEmpty());
  EXPECT_THAT(hint_calls_, IsEmpty());
}

TEST_F(ParkedIndexTest, AFilterLimitsTheEntries) {
  Park("a", "x", {.plugins = {1}}, 9);
  Park("b", "x", {.plugins = {1}}, 1);
  Park("c", "x", {.plugins = {1}}, 2);
  Park("d", "y", {.plugins = {1}}, 9);
  const EntityFilter is_low = [](const QueuedEntity& entity) {
    return entity.pod->view().priority < 5;
  };
  EXPECT_THAT(SelectForRequeue({"1:b"}, &is_low), ElementsAre("b", "c"));
  EXPECT_THAT(hint_calls_, ElementsAre("1:b")) << "the filter holds for no entry of d's class";
}

// A pod rejected by `plugins` and pending on `pending`; the hint calls in `yes` return true.
// `asked` lists the expected hint calls.
struct DecideCase {
  const char* description;
  std::vector<PluginId> plugins;
  std::vector<PluginId> pending;
  std::vector<std::string> yes;
  Requeueing how;
  std::vector<std::string> asked;
};

TEST_F(ParkedIndexTest, DecidesByTheRejectorsWhoseHintsReturnTrue) {
  const DecideCase cases[] = {
      {"no hint returns true", {1, 2}, {}, {}, Requeueing::kSkip, {"1:a", "2:a"}},
      {"the first hint returns true", {1, 2}, {}, {"1:a"}, Requeueing::kAfterBackoff, {"1:a"}},
      {"the second hint returns true",
       {1, 2},
       {},
       {"2:a"},
       Requeueing::kAfterBackoff,
       {"1:a", "2:a"}},
      {"a pending plugin's hint returns true", {}, {1}, {"1:a"}, Requeueing::kImmediately, {"1:a"}},
      {"both return true: the pending plugin decides",
       {1},
       {2},
       {"1:a", "2:a"},
       Requeueing::kImmediately,
       {"2:a"}},
      {"only the other plugin's hint returns true",
       {1},
       {2},
       {"1:a"},
       Requeueing::kAfterBackoff,
       {"2:a", "1:a"}},
      {"a rejector without a hint always requeues",
       {5},
       {1},
       {},
       Requeueing::kAfterBackoff,
       {"1:a"}},
      {"a plugin in both lists returns true", {1}, {1}, {"1:a"}, Requeueing::kImmediately, {"1:a"}},
      {"a plugin in both lists returns false", {1}, {1}, {}, Requeueing::kSkip, {"1:a", "1:a"}},
  };
  for (const DecideCase& c : cases) {
    SCOPED_TRACE(c.description);
    QueueEntry& entry = Park("a", "x", {.plugins = c.plugins, .pending = c.pending});
    const auto requeued = SelectForRequeue(c.yes);
    EXPECT_EQ(hint_calls_, c.asked);
    const std::vector<std::string> expected[] = {{}, {"a"}, {"a!"}};
    EXPECT_EQ(requeued, expected[static_cast<size_t>(c.how)]);
    index_.Remove(entry);
  }
}

TEST_F(ParkedIndexTest, UpdateMovesThePodToItsNewClass) {
  QueueEntry& a = Park("a", "x", {.plugins = {1}});
  Park("b", "x", {.plugins = {1}});
  Update(a, MakePod("a", "y"));
  index_.CheckInvariants();
  EXPECT_THAT(SelectForRequeue({"1:b"}), ElementsAre("b"));
  EXPECT_THAT(hint_calls_, UnorderedElementsAre("1:a", "1:b"));
  Update(a, MakePod("a", "x"));
  EXPECT_THAT(SelectForRequeue({"1:b"}), UnorderedElementsAre("a", "b"));
}

TEST_F(ParkedIndexTest, RemoveErasesEmptyClassesAndGroups) {
  QueueEntry& a = Park("a", "x", {.plugins = {1, 2}});
  QueueEntry& b = Park("b", "x", {.plugins = {1, 2}});
  QueueEntry& c = Park("c", "y", {.plugins = {1, 2}, .pending = {4}});
  index_.Remove(a);
  index_.CheckInvariants();
  EXPECT_THAT(SelectForRequeue({"1:b"}), ElementsAre("b"));
  index_.Remove(b);
  index_.CheckInvariants();
  index_.Remove(c);
  index_.CheckInvariants();
  EXPECT_THAT(SelectForRequeue({"1:a", "1:b", "1:c"}), IsEmpty());
  EXPECT_THAT(hint_calls_, IsEmpty());
  EXPECT_TRUE(index_.entries().empty());
}

TEST_F(ParkedIndexTest, EntriesAreInTheOrderOfParking) {
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

TEST_F(ParkedIndexTest, RebuildAppliesTheNewInterests) {
  Park("a", "x", {.plugins = {4}}, 1);
  Park("b", "x", {.plugins = {4}}, 1);
  Park("c", "x", {.plugins = {4}}, 2);
  for (Interest& interest : interests_) interest.pod_parts = BERTH_PART(PRIORITY);
  table_.Build(interests_);
  index_.Rebuild();
  index_.CheckInvariants();
  EXPECT_THAT(SelectForRequeue({"4:a"}), ElementsAre("a", "b"));
  EXPECT_THAT(hint_calls_, UnorderedElementsAre("4:a", "4:c"));
}

TEST_F(ParkedIndexTest, APodWithoutRejectorsCannotBeParked) {
  EXPECT_DEATH(Park("a", "x", {}), "a pod without rejecting plugins cannot be parked");
}

}  // namespace
}  // namespace berth::host
