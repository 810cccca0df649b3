// ChangeHub: every change of the node table is delivered to the plugins with the Changes point.
#include "host/runtime/points/run_changes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string NameOf(const berth_meta* meta) {
  return std::string(Text(meta->name)) + ":" + std::string(Text(meta->resource_version));
}

// Returns "#4 pod added p:2 on n1:1 at 1 (assumed)" and the like.
std::string Describe(const berth_change& change) {
  constexpr const char* kKinds[] = {"",
                                    "pod added",
                                    "pod changed",
                                    "pod removed",
                                    "node added",
                                    "node changed",
                                    "node removed",
                                    "synced",
                                    "pending added",
                                    "pending changed",
                                    "pending removed"};
  std::string text = "#" + std::to_string(change.sequence) + " " + kKinds[change.kind];
  const bool of_pod = change.pod != nullptr;
  if (of_pod) text += " " + NameOf(change.pod->meta);
  if (change.old_pod != nullptr) text += " was " + NameOf(change.old_pod->meta);
  if (change.node != nullptr) text += (of_pod ? " on " : " ") + NameOf(change.node->meta);
  if (change.old_node != nullptr) text += " was " + NameOf(change.old_node->meta);
  if (change.kind < BERTH_CHANGE_SYNCED) text += " at " + std::to_string(change.row);
  if ((change.flags & BERTH_CHANGE_FLAG_ASSUMED) != 0) text += " (assumed)";
  if ((change.flags & BERTH_CHANGE_FLAG_FORGOTTEN) != 0) text += " (forgotten)";
  if ((change.flags & BERTH_CHANGE_FLAG_REPLAY) != 0) text += " (replay)";
  EXPECT_EQ(change.struct_size, sizeof(berth_change));
  return text;
}

class ChangeHubTest : public ::testing::Test {
 protected:
  ChangeHubTest() {
    a_ = &stage_.Add("puppet.A", {Point::kChanges});
    a_->change = Note("");
    stage_.Build();
  }

  std::function<void(const berth_change&)> Note(const std::string& who) {
    return
        [this, who](const berth_change& change) { stage_.log.push_back(who + Describe(change)); };
  }
  static std::string Version(int version) {
    return R"("resourceVersion":")" + std::to_string(version) + '"';
  }
  PodRef MakePod(const std::string& name, const std::string& node, int version = 1) {
    return stage_.objects().Pod({.name = name, .node = node, .meta = Version(version)});
  }
  NodeRef MakeNode(const std::string& name, int version = 1) {
    return stage_.objects().NodeFrom(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" +
                                     name + R"(",)" + Version(version) + "}}");
  }
  Row RowOf(std::string_view node) { return stage_.table().FindNode(node); }
  std::vector<std::string> Take() { return std::exchange(stage_.log, {}); }

  static Cache& Emptied(Stage& stage) {
    for (const char* name : {"n0", "n1", "n2"}) stage.cache().RemoveNode(name);
    return stage.cache();
  }

  Stage stage_;
  ChangeHub hub_{Emptied(stage_)};
  Puppet* a_;
};

TEST_F(ChangeHubTest, DeliversEveryChangeOfAPod) {
  Cache& cache = stage_.cache();
  hub_.AddPlan(stage_.plan());
  cache.SetNode(MakeNode("n0"));
  cache.SetNode(MakeNode("n1"));
  Take();

  ASSERT_TRUE(cache.AssumePod(MakePod("p", "n0"), RowOf("n0")).ok());
  EXPECT_THAT(Take(), ElementsAre("#3 pod added p:1 on n0:1 at 0 (assumed)"));
  ASSERT_TRUE(cache.AddPod(MakePod("p", "n0", 2)).ok());
  EXPECT_THAT(Take(), ElementsAre("#4 pod changed p:2 was p:1 on n0:1 at 0"));
  ASSERT_TRUE(cache.UpdatePod(MakePod("p", "n0", 3)).ok());
  EXPECT_THAT(Take(), ElementsAre("#5 pod changed p:3 was p:2 on n0:1 at 0"));
  ASSERT_TRUE(cache.RemovePod("uid-p").ok());
  EXPECT_THAT(Take(), ElementsAre("#6 pod removed p:3 on n0:1 at 0"));

  ASSERT_TRUE(cache.AssumePod(MakePod("q", "n0"), RowOf("n0")).ok());
  ASSERT_TRUE(cache.ForgetPod("uid-q").ok());
  EXPECT_THAT(Take(), ElementsAre("#7 pod added q:1 on n0:1 at 0 (assumed)",
                                  "#8 pod removed q:1 on n0:1 at 0 (forgotten)"));

  ASSERT_TRUE(cache.AssumePod(MakePod("r", "n0"), RowOf("n0")).ok());
  ASSERT_TRUE(cache.AddPod(MakePod("r", "n1", 2)).ok());
  EXPECT_THAT(Take(),
              ElementsAre("#9 pod added r:1 on n0:1 at 0 (assumed)",
                          "#10 pod removed r:1 on n0:1 at 0", "#11 pod added r:2 on n1:1 at 1"));
}

TEST_F(ChangeHubTest, DeliversEveryChangeOfANode) {
  hub_.AddPlan(stage_.plan());
  Take();
  stage_.cache().SetNode(MakeNode("n0"));
  stage_.cache().SetNode(MakeNode("n0", 2));
  stage_.cache().RemoveNode("n0");
  EXPECT_THAT(Take(), ElementsAre("#1 node added n0:1 at 0", "#2 node changed n0:2 was n0:1 at 0",
                                  "#3 node removed n0:2 at 0"));
}

TEST_F(ChangeHubTest, PodMayPrecedeAndOutliveItsNode) {
  hub_.AddPlan(stage_.plan());
  Take();
  ASSERT_TRUE(stage_.cache().AddPod(MakePod("p", "late")).ok());
  stage_.cache().SetNode(MakeNode("late"));
  stage_.cache().RemoveNode("late");
  ASSERT_TRUE(stage_.cache().RemovePod("uid-p").ok());
  EXPECT_THAT(Take(), ElementsAre("#1 pod added p:1 at 0", "#2 node added late:1 at 0",
                                  "#3 node removed late:1 at 0", "#4 pod removed p:1 at 0"));
}

TEST_F(ChangeHubTest, ANewPlanGetsAReplay) {
  Cache& cache = stage_.cache();
  ASSERT_TRUE(cache.AddPod(MakePod("g", "ghost")).ok());
  cache.SetNode(MakeNode("n1"));
  cache.SetNode(MakeNode("n2"));
  ASSERT_TRUE(cache.AddPod(MakePod("p", "n2")).ok());
  ASSERT_TRUE(cache.AssumePod(MakePod("q", "n1"), RowOf("n1")).ok());
  EXPECT_EQ(hub_.sequence(), 5U) << "changes are counted without a plan";
  hub_.AddPlan(stage_.plan());
  EXPECT_THAT(Take(),
              ElementsAre("#5 node added n1:1 at 1 (replay)", "#5 node added n2:1 at 2 (replay)",
                          "#5 pod added g:1 at 0 (replay)",
                          "#5 pod added q:1 on n1:1 at 1 (assumed) (replay)",
                          "#5 pod added p:1 on n2:1 at 2 (replay)", "#5 synced"));
  cache.RemoveNode("n2");
  EXPECT_THAT(Take(), ElementsAre("#6 node removed n2:1 at 2"));
}

TEST_F(ChangeHubTest, ReplayOfAnEmptyTableIsOnlySynced) {
  hub_.AddPlan(stage_.plan());
  EXPECT_THAT(Take(), ElementsAre("#0 synced"));
}

TEST_F(ChangeHubTest, PlansShareSequenceNumbersButNotReplays) {
  Stage other;  // A second profile on the cluster of the first.
  other.Add("puppet.B", {Point::kFilter}).change = Note("B ");
  other.Build();
  hub_.AddPlan(stage_.plan());
  stage_.cache().SetNode(MakeNode("n0"));
  Take();
  hub_.AddPlan(other.plan());
  EXPECT_THAT(Take(), ElementsAre("B #1 node added n0:1 at 0 (replay)", "B #1 synced"))
      << "a plugin gets changes even if its profile uses it only at Filter";
  stage_.cache().SetNode(MakeNode("n0", 2));
  EXPECT_THAT(Take(), ElementsAre("#2 node changed n0:2 was n0:1 at 0",
                                  "B #2 node changed n0:2 was n0:1 at 0"));
  hub_.RemovePlan(stage_.plan());
  stage_.cache().RemoveNode("n0");
  EXPECT_THAT(Take(), ElementsAre("B #3 node removed n0:2 at 0"));
  hub_.RemovePlan(stage_.plan());
  hub_.RemovePlan(other.plan());
  stage_.cache().SetNode(MakeNode("n0"));
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_EQ(hub_.sequence(), 4U);
}

TEST_F(ChangeHubTest, AQuarantinedPluginStillGetsChanges) {
  hub_.AddPlan(stage_.plan());
  Take();
  stage_.Quarantine("puppet.A");
  stage_.cache().SetNode(MakeNode("n0"));
  EXPECT_THAT(Take(), ElementsAre("#1 node added n0:1 at 0"));
}

// A plugin may keep a view until a change replaces or removes it.
TEST_F(ChangeHubTest, ViewsLiveUntilReplacementOrRemovalIsDelivered) {
  std::map<std::string, const berth_pod*> pods;
  std::map<std::string, const berth_node*> nodes;
  a_->change = [&](const berth_change& change) {
    if (change.kind <= BERTH_CHANGE_POD_REMOVED) {
      const berth_pod*& kept = pods[std::string(Text(change.pod->meta->name))];
      const berth_pod* last = change.kind == BERTH_CHANGE_POD_CHANGED ? change.old_pod : change.pod;
      if (change.kind != BERTH_CHANGE_POD_ADDED) {
        EXPECT_EQ(kept, last);
        EXPECT_EQ(kept->struct_size, sizeof(berth_pod)) << "it can still be read";
      }
      kept = change.pod;
    } else if (change.kind <= BERTH_CHANGE_NODE_REMOVED) {
      const berth_node*& kept = nodes[std::string(Text(change.node->meta->name))];
      const berth_node* last =
          change.kind == BERTH_CHANGE_NODE_CHANGED ? change.old_node : change.node;
      if (change.kind != BERTH_CHANGE_NODE_ADDED) {
        EXPECT_EQ(kept, last);
        EXPECT_EQ(kept->struct_size, sizeof(berth_node));
      }
      kept = change.node;
    }
  };
  Cache& cache = stage_.cache();
  cache.SetNode(MakeNode("n0"));
  ASSERT_TRUE(cache.AssumePod(MakePod("p", "n0"), RowOf("n0")).ok());
  hub_.AddPlan(stage_.plan());
  cache.SetNode(MakeNode("n0", 2));
  ASSERT_TRUE(cache.AddPod(MakePod("p", "n0", 2)).ok());
  ASSERT_TRUE(cache.UpdatePod(MakePod("p", "n0", 3)).ok());
  ASSERT_TRUE(cache.AssumePod(MakePod("q", "n0"), RowOf("n0")).ok());
  ASSERT_TRUE(cache.AddPod(MakePod("q", "n1")).ok());
  cache.RemoveNode("n0");
  ASSERT_TRUE(cache.RemovePod("uid-p").ok());
  ASSERT_TRUE(cache.RemovePod("uid-q").ok());
}

// --- pending pods --------------------------------------------------------------------------------

class PendingTest : public ::testing::Test, public QueuePolicy, public QueueOrder {
 protected:
  PendingTest() {
    a_ = &stage_.Add("puppet.A", {Point::kChanges});
    a_->pending_changes = true;
    a_->change = Note("A ");
    b_ = &stage_.Add("puppet.B", {Point::kChanges});
    b_->change = Note("B ");
    stage_.Build();
    hub_.AddPlan(stage_.plan());
    stage_.log.clear();
  }

  std::optional<Gate> PreEnqueue(const PodRef& pod, const berth_queued&,
                                 std::optional<PluginId>) override {
    stage_.log.push_back("PreEnqueue " + std::string(pod->name()));
    return std::nullopt;
  }
  std::span<const Interest> interests() const override { return {}; }
  bool Hint(const Interest&, const berth_queued&, const berth_event&) override { return true; }
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued&) const override { return {}; }
  bool Less(const berth_queued&, const berth_queued&) const override { return false; }

  // The kind of the change, the plugin and the pod: "A pending added p".
  std::function<void(const berth_change&)> Note(const std::string& who) {
    return [this, who](const berth_change& change) {
      constexpr const char* kKinds[] = {"",
                                        "added",
                                        "changed",
                                        "removed",
                                        "node added",
                                        "node changed",
                                        "node removed",
                                        "synced",
                                        "pending added",
                                        "pending changed",
                                        "pending removed"};
      std::string text = who + kKinds[change.kind];
      if (change.pod != nullptr) text += " " + NameOf(change.pod->meta);
      if (change.old_pod != nullptr) text += " was " + NameOf(change.old_pod->meta);
      if ((change.flags & BERTH_CHANGE_FLAG_REPLAY) != 0) text += " (replay)";
      if (change.kind > BERTH_CHANGE_SYNCED) {
        EXPECT_EQ(change.row, 0U);
        EXPECT_EQ(change.node, nullptr);
        EXPECT_EQ(change.pod->node_name, kNoId);
      }
      stage_.log.push_back(text);
    };
  }
  PodRef MakePod(const std::string& name, int version = 1, const std::string& node = "") {
    return stage_.objects().Pod({.name = name,
                                 .node = node,
                                 .meta = R"("resourceVersion":")" + std::to_string(version) + '"'});
  }
  std::vector<std::string> Take() { return std::exchange(stage_.log, {}); }
  Status Assume(const PodRef& pod) {
    const Row row = stage_.table().FindNode("n0");
    const PodRef assumed = WithNode(pod, stage_.table().arrays().nodes[row]->name, "1");
    return stage_.cache().AssumePod(assumed, row);
  }

  Stage stage_;
  TestClock clock_;
  SchedulingQueue queue_{*this, *this, clock_, {}};
  ChangeHub hub_{stage_.cache(), &queue_};
  Puppet* a_;
  Puppet* b_;
};

TEST_F(PendingTest, OnlyAPluginThatAsksGetsPendingPods) {
  queue_.Add(MakePod("p"));
  EXPECT_THAT(Take(), ElementsAre("A pending added p:1", "PreEnqueue p"));
  queue_.Update(MakePod("p", 2));
  EXPECT_THAT(Take(), ElementsAre("A pending changed p:2 was p:1"));
  queue_.Remove("uid-p");
  EXPECT_THAT(Take(), ElementsAre("A pending removed p:2"));
  queue_.Remove("uid-p");
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(PendingTest, TheSameVersionIsNoChange) {
  const PodRef pod = MakePod("p");
  queue_.Add(pod);
  Take();
  queue_.Update(pod);
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(PendingTest, PodIsNeverPendingAndOnANode) {
  const PodRef pod = MakePod("p");
  queue_.Add(pod);
  queue_.Pop();
  Take();
  ASSERT_TRUE(Assume(pod).ok());
  EXPECT_THAT(Take(), ElementsAre("A pending removed p:1", "A added p:1", "B added p:1"));
  ASSERT_TRUE(stage_.cache().ForgetPod("uid-p").ok());
  EXPECT_THAT(Take(), ElementsAre("A removed p:1", "B removed p:1", "A pending added p:1"));
  queue_.Return("uid-p", {});
  EXPECT_THAT(Take(), ElementsAre("PreEnqueue p"));
}

TEST_F(PendingTest, AForgottenPodHasItsLatestVersion) {
  const PodRef pod = MakePod("p");
  queue_.Add(pod);
  queue_.Pop();
  ASSERT_TRUE(Assume(pod).ok());
  Take();
  queue_.Update(MakePod("p", 2));
  EXPECT_THAT(Take(), IsEmpty()) << "the pod is on its node";
  ASSERT_TRUE(stage_.cache().ForgetPod("uid-p").ok());
  EXPECT_THAT(Take(), ElementsAre("A removed p:1", "B removed p:1", "A pending added p:2"));
}

TEST_F(PendingTest, ForgettingADeletedPodDoesNotRestoreIt) {
  const PodRef pod = MakePod("p");
  queue_.Add(pod);
  queue_.Pop();
  ASSERT_TRUE(Assume(pod).ok());
  queue_.Remove("uid-p");
  Take();
  ASSERT_TRUE(stage_.cache().ForgetPod("uid-p").ok());
  EXPECT_THAT(Take(), ElementsAre("A removed p:1", "B removed p:1"));
  EXPECT_FALSE(queue_.Return("uid-p", {}));
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(PendingTest, ABoundPodLeavesSilently) {
  const PodRef pod = MakePod("p");
  queue_.Add(pod);
  queue_.Pop();
  ASSERT_TRUE(Assume(pod).ok());
  Take();
  ASSERT_TRUE(stage_.cache().AddPod(MakePod("p", 2, "n0")).ok());
  queue_.Done("uid-p");
  EXPECT_THAT(Take(), ElementsAre("A changed p:2 was p:1", "B changed p:2 was p:1"));
  ASSERT_TRUE(stage_.cache().RemovePod("uid-p").ok());
  EXPECT_THAT(Take(), ElementsAre("A removed p:2", "B removed p:2"));
}

// The router updates the cache before the queue.
TEST_F(PendingTest, PodBoundByAnotherClientIsNotPending) {
  queue_.Add(MakePod("p"));
  Take();
  ASSERT_TRUE(stage_.cache().AddPod(MakePod("p", 2, "n1")).ok());
  EXPECT_THAT(Take(), ElementsAre("A pending removed p:1", "A added p:2", "B added p:2"));
  queue_.Remove("uid-p", "n1");
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(PendingTest, TheReplayHasThePendingPods) {
  for (const char* name : {"z", "b", "y"}) queue_.Add(MakePod(name));
  queue_.Pop();
  ASSERT_TRUE(Assume(queue_.PodOf("uid-b")).ok());
  hub_.RemovePlan(stage_.plan());
  Take();
  hub_.AddPlan(stage_.plan());
  const std::vector<std::string> replay = Take();
  ASSERT_GT(replay.size(), 6U);
  EXPECT_THAT(replay, ::testing::Contains("A added b:1 (replay)"));
  EXPECT_THAT(replay, ::testing::Not(::testing::Contains("A pending added b:1 (replay)")));
  const auto first = std::ranges::find(replay, "A pending added y:1 (replay)");
  ASSERT_NE(first, replay.end());
  EXPECT_EQ(*(first + 1), "A pending added z:1 (replay)");
  EXPECT_EQ(*(first + 2), "A synced");
  EXPECT_THAT(replay, ::testing::Not(::testing::Contains(::testing::HasSubstr("B pending"))));
}

TEST_F(PendingTest, PendingChangesHaveNumbersToo) {
  queue_.Add(MakePod("p"));
  EXPECT_EQ(hub_.sequence(), 1U);
  queue_.Remove("uid-p");
  EXPECT_EQ(hub_.sequence(), 2U);
}

TEST_F(PendingTest, HubOverAFilledQueueHasItsPods) {
  queue_.SetObserver(nullptr);
  queue_.Add(MakePod("p"));
  ChangeHub hub(stage_.cache(), &queue_);
  Take();
  hub.AddPlan(stage_.plan());
  EXPECT_THAT(Take(), ::testing::Contains("A pending added p:1 (replay)"));
  hub.RemovePlan(stage_.plan());
  queue_.SetObserver(&hub_);
}

}  // namespace
}  // namespace berth::host
