#include "host/event/event_router.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PluginId kPlugin = 3;

// Registers for every event and records them. Its hint always returns false.
class RecordingPolicy final : public QueuePolicy {
 public:
  RecordingPolicy() {
    interests_.push_back({.plugin = kPlugin,
                          .index = 0,
                          .resource = BERTH_RESOURCE_WILDCARD,
                          .actions = BERTH_ACTION_ALL,
                          .kind = "",
                          .has_hint = true,
                          .pod_parts = 0});
  }

  std::optional<Gate> PreEnqueue(const PodRef&, std::optional<PluginId>) override {
    return std::nullopt;
  }
  std::span<const Interest> interests() const override { return interests_; }
  bool Hint(const Interest&, const berth_queued&, const berth_event& event) override {
    const QueueEvent named{.resource = event.resource, .action = event.actions};
    events_.push_back(EventLabel(named));
    if (event.before.kind == BERTH_KIND_POD) {
      had_node_ = static_cast<const berth_pod*>(event.before.object)->node_name != kNoId;
    }
    return false;
  }

  std::vector<std::string> Take() { return std::exchange(events_, {}); }
  // Returns whether the pod of the last event had a node before.
  bool had_node() const { return had_node_; }

 private:
  std::vector<Interest> interests_;
  std::vector<std::string> events_;
  bool had_node_ = false;
};

class FirstInFirstOut final : public QueueOrder {
 public:
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued&) const override { return {}; }
  bool Less(const berth_queued&, const berth_queued&) const override { return false; }
};

// One parked pod, "watcher", gets every event.
class EventRouterTest : public ::testing::Test {
 protected:
  EventRouterTest()
      : cache_(objects_.interner()),
        queue_(policy_, order_, clock_, {}),
        profile_(objects_.interner().Intern("default-scheduler")),
        router_(cache_, store_, queue_,
                {.profiles = {profile_},
                 .on_assumed_pod_deleting =
                     [this](std::string_view uid) { deleting_.emplace_back(uid); },
                 .on_pod_bound = [this](std::string_view uid) { bound_.emplace_back(uid); },
                 .on_inconsistency =
                     [this](std::string_view text) { inconsistencies_.emplace_back(text); }}) {
    queue_.Add(Pod({.name = "watcher"}));
    queue_.Pop();
    queue_.Return("uid-watcher", {.plugins = {kPlugin}, .pending = {}});
    policy_.Take();
  }
  ~EventRouterTest() override { objects_.interner().Release(profile_); }

  PodRef Pod(const TestPod& pod) {
    return WithResourceVersion(objects_.Pod(pod), std::to_string(++version_));
  }
  NodeRef Node(const TestNode& node) {
    return WithResourceVersion(objects_.Node(node), std::to_string(++version_));
  }
  ObjectRef Claim(const std::string& name, const std::string& uid = "uid") {
    return WithResourceVersion(
        objects_.ObjectFrom(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{)"
                            R"("name":")" +
                            name + R"(","namespace":"default","uid":")" + uid + R"("}})"),
        std::to_string(++version_));
  }

  PodRef Added(PodRef pod) {
    router_.OnPod({.type = WatchType::kAdded, .object = pod, .previous = PodRef()});
    return pod;
  }
  PodRef Changed(const PodRef& old, PodRef pod) {
    router_.OnPod({.type = WatchType::kModified, .object = pod, .previous = old});
    return pod;
  }
  void Deleted(const PodRef& pod, bool unknown = false) {
    router_.OnPod({.type = WatchType::kDeleted,
                   .object = pod,
                   .previous = pod,
                   .final_state_unknown = unknown});
  }
  NodeRef Added(NodeRef node) {
    router_.OnNode({.type = WatchType::kAdded, .object = node, .previous = NodeRef()});
    return node;
  }
  NodeRef Changed(const NodeRef& old, NodeRef node) {
    router_.OnNode({.type = WatchType::kModified, .object = node, .previous = old});
    return node;
  }
  void Deleted(const NodeRef& node) {
    router_.OnNode({.type = WatchType::kDeleted, .object = node, .previous = node});
  }
  bool Queued(std::string_view uid) const { return queue_.Find(uid) != nullptr; }
  bool Cached(std::string_view uid) const { return cache_.RowOf(uid) != kNoRow; }

  TestClock clock_;
  TestObjects objects_;
  RecordingPolicy policy_;
  FirstInFirstOut order_;
  Cache cache_;
  ObjectStore store_;
  SchedulingQueue queue_;
  Id profile_;
  std::vector<std::string> deleting_;
  std::vector<std::string> bound_;
  std::vector<std::string> inconsistencies_;
  uint64_t version_ = 0;
  EventRouter router_;
};

// ---- Pods ---------------------------------------------------------------------------------------

TEST_F(EventRouterTest, APodWithoutANodeIsQueuedAndIsNoEvent) {
  const PodRef pod = Added(Pod({.name = "a"}));
  EXPECT_TRUE(Queued("uid-a"));
  EXPECT_FALSE(Cached("uid-a"));
  Deleted(pod);
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_THAT(policy_.Take(), IsEmpty());
}

TEST_F(EventRouterTest, APodOfAnotherSchedulerIsIgnoredUntilItHasANode) {
  const PodRef pod = Added(Pod({.name = "a", .spec = R"("schedulerName":"other")"}));
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_EQ(router_.other_schedulers_pending(), 1U);
  const PodRef bound =
      Changed(pod, Pod({.name = "a", .node = "n1", .spec = R"("schedulerName":"other")"}));
  EXPECT_TRUE(Cached("uid-a"));
  EXPECT_EQ(router_.other_schedulers_pending(), 0U);
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd"));
  Deleted(bound);
  EXPECT_FALSE(Cached("uid-a"));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodDelete"));
}

TEST_F(EventRouterTest, AnAssignedPodMovesFromTheQueueToTheCache) {
  const PodRef pod = Added(Pod({.name = "a"}));
  Changed(pod, Pod({.name = "a", .node = "n1"}));
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_TRUE(Cached("uid-a"));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd"));
}

TEST_F(EventRouterTest, EachChangeOfAnAssignedPodIsAnEvent) {
  const PodRef pod = Added(Pod({.name = "a", .node = "n1", .requests = "\"cpu\":\"2\""}));
  policy_.Take();
  const PodRef labelled = Changed(pod, Pod({.name = "a",
                                            .node = "n1",
                                            .requests = "\"cpu\":\"1\"",
                                            .meta = R"("labels":{"k":"v"})"}));
  EXPECT_THAT(policy_.Take(),
              ElementsAre("AssignedPodUpdatePodLabel", "AssignedPodUpdatePodScaleDown"));
  const PodRef same = Changed(labelled, Pod({.name = "a",
                                             .node = "n1",
                                             .requests = "\"cpu\":\"1\"",
                                             .meta = R"("labels":{"k":"v"})"}));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodUpdate"));
  // A repeated version of an object causes no event.
  Changed(same, same);
  EXPECT_THAT(policy_.Take(), IsEmpty());
}

TEST_F(EventRouterTest, APodCreatedAgainUnderItsNameIsAnotherPod) {
  const PodRef old = Added(Pod({.name = "a"}));
  const PodRef now = objects_.PodFrom(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default",)"
      R"("uid":"second","resourceVersion":"99"},"spec":{"containers":[{"name":"c"}]}})");
  Changed(old, now);
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_TRUE(Queued("second"));
}

// This or another scheduler bound the pod to the node that it is nominated to, so no room became
// free.
TEST_F(EventRouterTest, BindingToTheNominatedNodeRequeuesNoPod) {
  const PodRef there = Added(Pod({.name = "a", .status = R"("nominatedNodeName":"n1")"}));
  const PodRef elsewhere = Added(Pod({.name = "b", .status = R"("nominatedNodeName":"n1")"}));
  Changed(there, Pod({.name = "a", .node = "n1", .status = R"("nominatedNodeName":"n1")"}));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd"));
  Changed(elsewhere, Pod({.name = "b", .node = "n2"}));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd", "AssignedPodDelete"));
  EXPECT_THAT(bound_, ElementsAre("uid-a", "uid-b"));
}

TEST_F(EventRouterTest, AMissedDeletionRemovesThePodFromQueueOrCache) {
  const PodRef pending = Added(Pod({.name = "a"}));
  Added(Pod({.name = "b", .node = "n1"}));
  policy_.Take();
  Deleted(pending, true);
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_THAT(policy_.Take(), IsEmpty());
  // The pod was last seen pending and has been assigned since.
  Deleted(Pod({.name = "b"}), true);
  EXPECT_FALSE(Cached("uid-b"));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodDelete"));
  EXPECT_TRUE(policy_.had_node());
  // A pod that is in neither is ignored.
  Deleted(Pod({.name = "c"}), true);
  EXPECT_THAT(inconsistencies_, IsEmpty());
}

// ---- Assumed pods -------------------------------------------------------------------------------

TEST_F(EventRouterTest, AnAssumedPodIsReportedWhenItsDeletionBeginsAndEnds) {
  Added(Node({.name = "n1"}));
  const PodRef pod = Added(Pod({.name = "a"}));
  ASSERT_EQ(queue_.Pop()->pod, pod);
  ASSERT_TRUE(cache_.AssumePod(Pod({.name = "a", .node = "n1"}), 0).ok());

  const PodRef labelled = Changed(pod, Pod({.name = "a", .meta = R"("labels":{"k":"v"})"}));
  EXPECT_THAT(deleting_, IsEmpty());
  EXPECT_EQ(queue_.Find("uid-a")->pod,
            labelled);  // Used by the next attempt if this binding fails.
  const PodRef ending = Changed(
      labelled, Pod({.name = "a", .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"}));
  EXPECT_THAT(deleting_, ElementsAre("uid-a"));
  Changed(ending, Pod({.name = "a", .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"}));
  EXPECT_THAT(deleting_, ElementsAre("uid-a"));
  Deleted(ending);
  EXPECT_THAT(deleting_, ElementsAre("uid-a", "uid-a"));
}

TEST_F(EventRouterTest, AnAssignedPodEventConfirmsAnAssumedPod) {
  Added(Node({.name = "n1"}));
  const PodRef pod = Added(Pod({.name = "a"}));
  queue_.Pop();
  ASSERT_TRUE(cache_.AssumePod(Pod({.name = "a", .node = "n1"}), 0).ok());
  policy_.Take();
  Changed(pod, Pod({.name = "a", .node = "n1"}));
  EXPECT_FALSE(cache_.IsAssumed("uid-a"));
  EXPECT_TRUE(Cached("uid-a"));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd"));
  EXPECT_THAT(deleting_, IsEmpty());
  EXPECT_THAT(inconsistencies_, IsEmpty());
}

TEST_F(EventRouterTest, AWrongAssumptionIsAnEventForOtherPods) {
  Added(Node({.name = "n1"}));
  Added(Node({.name = "n2"}));
  const PodRef smaller = Added(Pod({.name = "a", .requests = R"("cpu":"2")"}));
  const PodRef elsewhere = Added(Pod({.name = "b"}));
  for (const TestPod& pod : {TestPod{.name = "a", .node = "n1", .requests = R"("cpu":"2")"},
                             TestPod{.name = "b", .node = "n1"}}) {
    queue_.Pop();
    ASSERT_TRUE(cache_.AssumePod(Pod(pod), 0).ok());
  }
  policy_.Take();
  Changed(smaller, Pod({.name = "a", .node = "n1", .requests = R"("cpu":"1")"}));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd", "AssignedPodUpdatePodScaleDown"));
  Changed(elsewhere, Pod({.name = "b", .node = "n2"}));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd", "AssignedPodDelete"));
}

// The response to a binding may arrive before older events of the pod.
TEST_F(EventRouterTest, AnOldEventDoesNotQueueABoundPodAgain) {
  Added(Node({.name = "n1"}));
  const PodRef pod = Added(Pod({.name = "a"}));
  queue_.Pop();
  ASSERT_TRUE(cache_.AssumePod(Pod({.name = "a", .node = "n1"}), 0).ok());
  queue_.Done("uid-a");
  const PodRef labelled = Changed(pod, Pod({.name = "a", .meta = R"("labels":{"k":"v"})"}));
  EXPECT_FALSE(Queued("uid-a"));
  Changed(labelled, Pod({.name = "a", .node = "n1"}));
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_FALSE(cache_.IsAssumed("uid-a"));
  EXPECT_THAT(inconsistencies_, IsEmpty());
}

TEST_F(EventRouterTest, OnAssumedPodForgottenIsADeletionForAllOtherPods) {
  const PodRef watcher = Pod({.name = "watcher", .node = "n1"});
  router_.OnAssumedPodForgotten(watcher);
  EXPECT_THAT(policy_.Take(), IsEmpty());
  router_.OnAssumedPodForgotten(Pod({.name = "a", .node = "n1"}));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodDelete"));
}

TEST_F(EventRouterTest, ReportsAnEventThatContradictsTheCache) {
  const PodRef pod = Added(Pod({.name = "a", .node = "n1"}));
  EXPECT_THAT(inconsistencies_, IsEmpty());
  Deleted(pod);
  Deleted(pod);
  EXPECT_EQ(inconsistencies_.size(), 1U);
}

// ---- Nodes and other objects --------------------------------------------------------------------

TEST_F(EventRouterTest, NodesAreAddedChangedAndDeleted) {
  const NodeRef node = Added(Node({.name = "n1"}));
  EXPECT_EQ(cache_.table().node_count(), 1U);
  EXPECT_THAT(policy_.Take(), ElementsAre("NodeAdd"));
  const NodeRef cordoned = Changed(node, Node({.name = "n1", .spec = R"("unschedulable":true)"}));
  EXPECT_THAT(policy_.Take(), IsEmpty());
  const NodeRef other = Changed(
      cordoned, Node({.name = "n1", .allocatable = "\"cpu\":\"8\"", .labels = "\"zone\":\"a\""}));
  EXPECT_THAT(policy_.Take(), ElementsAre("NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel",
                                          "NodeUpdateNodeTaint"));
  // A heartbeat is no event.
  Changed(other, Node({.name = "n1", .allocatable = "\"cpu\":\"8\"", .labels = "\"zone\":\"a\""}));
  EXPECT_THAT(policy_.Take(), IsEmpty());
  Deleted(other);
  EXPECT_EQ(cache_.table().node_count(), 0U);
  EXPECT_THAT(policy_.Take(), ElementsAre("NodeDelete"));
}

TEST_F(EventRouterTest, OtherObjectsAreStoredAndAreEvents) {
  const ObjectRef claim = Claim("c");
  router_.OnObject({.type = WatchType::kAdded, .object = claim, .previous = ObjectRef()});
  EXPECT_EQ(store_.Get("v1/PersistentVolumeClaim", "default", "c"), claim);
  const ObjectRef now = Claim("c");
  router_.OnObject({.type = WatchType::kModified, .object = now, .previous = claim});
  EXPECT_EQ(store_.Get("v1/PersistentVolumeClaim", "default", "c"), now);
  router_.OnObject({.type = WatchType::kModified, .object = now, .previous = now});
  router_.OnObject({.type = WatchType::kDeleted, .object = now, .previous = now});
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_THAT(policy_.Take(), ElementsAre("PersistentVolumeClaimAdd", "PersistentVolumeClaimUpdate",
                                          "PersistentVolumeClaimDelete"));
}

// The watch was lost meanwhile: pods that wait for either event must get both.
TEST_F(EventRouterTest, AnObjectReplacedWhileUnwatchedIsDeletedAndAdded) {
  const ObjectRef first = Claim("c", "uid-1");
  router_.OnObject({.type = WatchType::kAdded, .object = first, .previous = ObjectRef()});
  const ObjectRef second = Claim("c", "uid-2");
  router_.OnObject({.type = WatchType::kModified, .object = second, .previous = first});
  EXPECT_EQ(store_.Get("v1/PersistentVolumeClaim", "default", "c"), second);
  EXPECT_THAT(policy_.Take(), ElementsAre("PersistentVolumeClaimAdd", "PersistentVolumeClaimDelete",
                                          "PersistentVolumeClaimAdd"));
  // A third object was added and deleted while unwatched.
  const ObjectRef third = Claim("c", "uid-3");
  router_.OnObject({.type = WatchType::kDeleted, .object = third, .previous = second});
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_THAT(policy_.Take(), ElementsAre("PersistentVolumeClaimDelete"));
}

// --- kinds that are not served -------------------------------------------------------------------

class KindsTest : public EventRouterTest {
 protected:
  void Start(const std::vector<std::string>& kinds) {
    router_.StartWatches(cluster_, kinds);
    cluster_.Deliver();
  }
  void AddRack(const std::string& version, const std::string& name) {
    ASSERT_TRUE(
        cluster_
            .Create(objects_.ObjectFrom(R"({"kind":"Rack","apiVersion":"example.com/)" + version +
                                        R"(","metadata":{"name":")" + name + "\"}}"))
            .ok());
    cluster_.Deliver();
  }
  void SetServed(const std::string& version, bool served) {
    cluster_.SetServed("example.com/" + version + "/Rack", served);
    cluster_.Deliver();
  }
  std::vector<std::string> Racks() const {
    std::vector<std::string> racks;
    store_.List("example.com/v2|v1/Rack", "", [&](const ObjectRef& rack) {
      racks.push_back(std::string(rack->kind()) + " " + rack->Key());
      return true;
    });
    return racks;
  }

  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 10, .serve = nullptr}};
  // Ends the watches before the cluster is destroyed.
  struct Stopper {
    EventRouter& router;
    ~Stopper() { router.StopWatches(); }
  } stopper_{router_};
};

TEST_F(KindsTest, AKindThatIsNotServedDoesNotDelayTheStart) {
  SetServed("v1", false);
  router_.StartWatches(cluster_, std::vector<std::string>{"example.com/v1/Rack"});
  EXPECT_FALSE(router_.synced());
  cluster_.Deliver();
  EXPECT_TRUE(router_.synced());
  EXPECT_FALSE(store_.IsServed("example.com/v1/Rack"));
  SetServed("v1", true);
  EXPECT_TRUE(store_.IsServed("example.com/v1/Rack"));
  AddRack("v1", "a");
  EXPECT_EQ(store_.size(), 1U);
  SetServed("v1", false);
  EXPECT_FALSE(store_.IsServed("example.com/v1/Rack"));
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_TRUE(router_.synced());
}

TEST_F(KindsTest, TheFirstVersionThatIsServedIsUsed) {
  SetServed("v2", false);
  AddRack("v1", "a");
  router_.StartWatches(cluster_, std::vector<std::string>{"example.com/v2|v1/Rack"});
  cluster_.DeliverOne();
  EXPECT_FALSE(router_.synced());
  cluster_.Deliver();
  EXPECT_TRUE(router_.synced());
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack a"));
}

TEST_F(KindsTest, APreferredVersionReplacesAnotherWhenItIsServed) {
  SetServed("v2", false);
  AddRack("v1", "a");
  Start({"example.com/v2|v1/Rack"});
  std::vector<std::string> changes;
  store_.Replay(store_.Watch("example.com/v2|v1/Rack", [&](const ObjectChange& change) {
    const ObjectRef& one = change.now != nullptr ? change.now : change.old;
    changes.push_back((change.now != nullptr ? "+" : "-") + std::string(one->kind()));
  }));
  changes.clear();
  SetServed("v2", true);
  EXPECT_THAT(changes, ElementsAre("-example.com/v1/Rack"));
  AddRack("v2", "a");
  EXPECT_THAT(Racks(), ElementsAre("example.com/v2/Rack a"));
  EXPECT_EQ(store_.size(), 1U) << "the other version is no longer watched";
  EXPECT_THAT(changes, ElementsAre("-example.com/v1/Rack", "+example.com/v2/Rack"));
  SetServed("v2", false);
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack a"));
}

TEST_F(KindsTest, AVersionThatIsAlsoDeclaredAloneStaysWatched) {
  SetServed("v2", false);
  AddRack("v1", "a");
  Start({"example.com/v2|v1/Rack", "example.com/v1/Rack"});
  SetServed("v2", true);
  AddRack("v2", "b");
  EXPECT_THAT(Racks(), ElementsAre("example.com/v2/Rack b"));
  EXPECT_NE(store_.Get("example.com/v1/Rack", "", "a"), nullptr);
}

TEST_F(KindsTest, ALessPreferredVersionIsNotWatched) {
  AddRack("v1", "a");
  AddRack("v2", "b");
  Start({"example.com/v2|v1/Rack"});
  EXPECT_THAT(Racks(), ElementsAre("example.com/v2/Rack b"));
  EXPECT_EQ(store_.size(), 1U);
}

TEST_F(KindsTest, ObjectsThatExistedBeforeTheWatchAreMarked) {
  std::vector<std::string> changes;
  store_.Replay(store_.Watch("example.com/v1/Rack", [&](const ObjectChange& change) {
    changes.push_back(change.now->Key() + (change.existed ? " existed" : " is new"));
  }));
  AddRack("v1", "a");
  Start({"example.com/v1/Rack"});
  AddRack("v1", "b");
  EXPECT_THAT(changes, ElementsAre("a existed", "b is new"));
}

}  // namespace
}  // namespace berth::host
