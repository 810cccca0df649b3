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

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PluginId kPlugin = 3;

// Wants to hear of everything, and helps nobody.
class Listener final : public QueuePolicy {
 public:
  Listener() {
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
    heard_.push_back(EventLabel(named));
    if (event.before.kind == BERTH_KIND_POD) {
      was_placed_ = static_cast<const berth_pod*>(event.before.object)->node_name != kNoId;
    }
    return false;
  }

  std::vector<std::string> Take() { return std::exchange(heard_, {}); }
  // Whether the pod of the last event had a node before.
  bool was_placed() const { return was_placed_; }

 private:
  std::vector<Interest> interests_;
  std::vector<std::string> heard_;
  bool was_placed_ = false;
};

class FirstInFirstOut final : public QueueOrder {
 public:
  bool has_key() const override { return true; }
  SortKey KeyOf(const berth_queued&) const override { return {}; }
  bool Less(const berth_queued&, const berth_queued&) const override { return false; }
};

// Everything that happens is offered to one parked pod, "watcher".
class EventRouterTest : public ::testing::Test {
 protected:
  EventRouterTest()
      : cache_(objects_.interner()),
        queue_(listener_, order_, [this] { return clock_.NowNs(); }, {}),
        profile_(objects_.interner().Intern("default-scheduler")),
        router_(
            cache_, store_, queue_,
            {.profiles = {profile_},
             .on_assumed_pod_going = [this](std::string_view uid) { going_.emplace_back(uid); },
             .on_pod_bound = [this](std::string_view uid) { bound_.emplace_back(uid); },
             .on_contradiction = [this](std::string_view text) { trouble_.emplace_back(text); }}) {
    queue_.Add(Pod({.name = "watcher"}));
    queue_.Pop();
    queue_.Return("uid-watcher", {.plugins = {kPlugin}, .pending = {}});
    listener_.Take();
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
  void Gone(const PodRef& pod, bool unknown = false) {
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
  void Gone(const NodeRef& node) {
    router_.OnNode({.type = WatchType::kDeleted, .object = node, .previous = node});
  }
  bool Queued(std::string_view uid) const { return queue_.Find(uid) != nullptr; }
  bool Cached(std::string_view uid) const { return cache_.RowOf(uid) != kNoRow; }

  TestClock clock_;
  TestObjects objects_;
  Listener listener_;
  FirstInFirstOut order_;
  Cache cache_;
  ObjectStore store_;
  SchedulingQueue queue_;
  Id profile_;
  std::vector<std::string> going_;
  std::vector<std::string> bound_;
  std::vector<std::string> trouble_;
  uint64_t version_ = 0;
  EventRouter router_;
};

// ---- Pods ---------------------------------------------------------------------------------------

TEST_F(EventRouterTest, APodWithoutANodeGoesToTheQueueAndWakesNobody) {
  const PodRef pod = Added(Pod({.name = "a"}));
  EXPECT_TRUE(Queued("uid-a"));
  EXPECT_FALSE(Cached("uid-a"));
  Gone(pod);
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_THAT(listener_.Take(), IsEmpty());
}

TEST_F(EventRouterTest, APodOfAnotherSchedulerIsNobodysBusinessUntilItHasANode) {
  const PodRef pod = Added(Pod({.name = "a", .spec = R"("schedulerName":"other")"}));
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_EQ(router_.others_pending(), 1U);
  const PodRef bound =
      Changed(pod, Pod({.name = "a", .node = "n1", .spec = R"("schedulerName":"other")"}));
  EXPECT_TRUE(Cached("uid-a"));
  EXPECT_EQ(router_.others_pending(), 0U);
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodAdd"));
  Gone(bound);
  EXPECT_FALSE(Cached("uid-a"));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodDelete"));
}

TEST_F(EventRouterTest, APodThatGetsANodeLeavesTheQueueForTheCache) {
  const PodRef pod = Added(Pod({.name = "a"}));
  Changed(pod, Pod({.name = "a", .node = "n1"}));
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_TRUE(Cached("uid-a"));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodAdd"));
}

TEST_F(EventRouterTest, EachChangeOfAnAssignedPodIsAnEventOfItsOwn) {
  const PodRef pod = Added(Pod({.name = "a", .node = "n1", .requests = "\"cpu\":\"2\""}));
  listener_.Take();
  const PodRef labelled = Changed(pod, Pod({.name = "a",
                                            .node = "n1",
                                            .requests = "\"cpu\":\"1\"",
                                            .meta = R"("labels":{"k":"v"})"}));
  EXPECT_THAT(listener_.Take(),
              ElementsAre("AssignedPodUpdatePodLabel", "AssignedPodUpdatePodScaleDown"));
  const PodRef same = Changed(labelled, Pod({.name = "a",
                                             .node = "n1",
                                             .requests = "\"cpu\":\"1\"",
                                             .meta = R"("labels":{"k":"v"})"}));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodUpdate"));
  // The same version again says nothing.
  Changed(same, same);
  EXPECT_THAT(listener_.Take(), IsEmpty());
}

TEST_F(EventRouterTest, DeleteAndCreateUnderOneNameIsAnotherPod) {
  const PodRef old = Added(Pod({.name = "a"}));
  const PodRef now = objects_.PodFrom(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default",)"
      R"("uid":"second","resourceVersion":"99"},"spec":{"containers":[{"name":"c"}]}})");
  Changed(old, now);
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_TRUE(Queued("second"));
}

// A scheduler beside us, or we, put the pod where room was kept for it: no place has become free.
TEST_F(EventRouterTest, APodThatGetsTheNodeItIsNominatedToFreesNothing) {
  const PodRef there = Added(Pod({.name = "a", .status = R"("nominatedNodeName":"n1")"}));
  const PodRef elsewhere = Added(Pod({.name = "b", .status = R"("nominatedNodeName":"n1")"}));
  Changed(there, Pod({.name = "a", .node = "n1", .status = R"("nominatedNodeName":"n1")"}));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodAdd"));
  Changed(elsewhere, Pod({.name = "b", .node = "n2"}));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodAdd", "AssignedPodDelete"));
  EXPECT_THAT(bound_, ElementsAre("uid-a", "uid-b"));
}

TEST_F(EventRouterTest, ADeletionThatWasMissedRemovesThePodFromWhereverItIs) {
  const PodRef pending = Added(Pod({.name = "a"}));
  Added(Pod({.name = "b", .node = "n1"}));
  listener_.Take();
  Gone(pending, true);
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_THAT(listener_.Take(), IsEmpty());
  // Last seen pending, it has got a node since.
  Gone(Pod({.name = "b"}), true);
  EXPECT_FALSE(Cached("uid-b"));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodDelete"));
  EXPECT_TRUE(listener_.was_placed());
  // It may be nowhere.
  Gone(Pod({.name = "c"}), true);
  EXPECT_THAT(trouble_, IsEmpty());
}

// ---- Pods that we gave a node -------------------------------------------------------------------

TEST_F(EventRouterTest, OnlyTheBeginningAndTheEndOfADeletionMatterToAnAssumedPod) {
  Added(Node({.name = "n1"}));
  const PodRef pod = Added(Pod({.name = "a"}));
  ASSERT_EQ(queue_.Pop()->pod, pod);
  ASSERT_TRUE(cache_.AssumePod(Pod({.name = "a", .node = "n1"}), 0).ok());

  const PodRef labelled = Changed(pod, Pod({.name = "a", .meta = R"("labels":{"k":"v"})"}));
  EXPECT_THAT(going_, IsEmpty());
  EXPECT_EQ(queue_.Find("uid-a")->pod, labelled);  // What is tried next if this binding fails.
  const PodRef ending = Changed(
      labelled, Pod({.name = "a", .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"}));
  EXPECT_THAT(going_, ElementsAre("uid-a"));
  Changed(ending, Pod({.name = "a", .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"}));
  EXPECT_THAT(going_, ElementsAre("uid-a"));
  Gone(ending);
  EXPECT_THAT(going_, ElementsAre("uid-a", "uid-a"));
}

TEST_F(EventRouterTest, TheClustersWordConfirmsAnAssumedPod) {
  Added(Node({.name = "n1"}));
  const PodRef pod = Added(Pod({.name = "a"}));
  queue_.Pop();
  ASSERT_TRUE(cache_.AssumePod(Pod({.name = "a", .node = "n1"}), 0).ok());
  listener_.Take();
  Changed(pod, Pod({.name = "a", .node = "n1"}));
  EXPECT_FALSE(cache_.IsAssumed("uid-a"));
  EXPECT_TRUE(Cached("uid-a"));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodAdd"));
  EXPECT_THAT(going_, IsEmpty());
  EXPECT_THAT(trouble_, IsEmpty());
}

TEST_F(EventRouterTest, WhatWasAssumedWronglyIsToldToOthers) {
  Added(Node({.name = "n1"}));
  Added(Node({.name = "n2"}));
  const PodRef smaller = Added(Pod({.name = "a", .requests = R"("cpu":"2")"}));
  const PodRef elsewhere = Added(Pod({.name = "b"}));
  for (const TestPod& pod : {TestPod{.name = "a", .node = "n1", .requests = R"("cpu":"2")"},
                             TestPod{.name = "b", .node = "n1"}}) {
    queue_.Pop();
    ASSERT_TRUE(cache_.AssumePod(Pod(pod), 0).ok());
  }
  listener_.Take();
  Changed(smaller, Pod({.name = "a", .node = "n1", .requests = R"("cpu":"1")"}));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodAdd", "AssignedPodUpdatePodScaleDown"));
  Changed(elsewhere, Pod({.name = "b", .node = "n2"}));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodAdd", "AssignedPodDelete"));
}

// The answer to a binding may come before older changes of the pod.
TEST_F(EventRouterTest, OldNewsOfAPodThatWasBoundDoesNotBringItBack) {
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
  EXPECT_THAT(trouble_, IsEmpty());
}

TEST_F(EventRouterTest, AFreedPlaceIsTheDeletionOfAPodToAllButItself) {
  const PodRef watcher = Pod({.name = "watcher", .node = "n1"});
  router_.OnPlaceFreed(watcher);
  EXPECT_THAT(listener_.Take(), IsEmpty());
  router_.OnPlaceFreed(Pod({.name = "a", .node = "n1"}));
  EXPECT_THAT(listener_.Take(), ElementsAre("AssignedPodDelete"));
}

TEST_F(EventRouterTest, WhatContradictsTheCacheIsReported) {
  const PodRef pod = Added(Pod({.name = "a", .node = "n1"}));
  EXPECT_THAT(trouble_, IsEmpty());
  Gone(pod);
  Gone(pod);
  EXPECT_EQ(trouble_.size(), 1U);
}

// ---- Nodes and other objects --------------------------------------------------------------------

TEST_F(EventRouterTest, NodesComeChangeAndGo) {
  const NodeRef node = Added(Node({.name = "n1"}));
  EXPECT_EQ(cache_.table().node_count(), 1U);
  EXPECT_THAT(listener_.Take(), ElementsAre("NodeAdd"));
  const NodeRef cordoned = Changed(node, Node({.name = "n1", .spec = R"("unschedulable":true)"}));
  EXPECT_THAT(listener_.Take(), IsEmpty());
  const NodeRef other = Changed(
      cordoned, Node({.name = "n1", .allocatable = "\"cpu\":\"8\"", .labels = "\"zone\":\"a\""}));
  EXPECT_THAT(listener_.Take(), ElementsAre("NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel",
                                            "NodeUpdateNodeTaint"));
  // A heartbeat.
  Changed(other, Node({.name = "n1", .allocatable = "\"cpu\":\"8\"", .labels = "\"zone\":\"a\""}));
  EXPECT_THAT(listener_.Take(), IsEmpty());
  Gone(other);
  EXPECT_EQ(cache_.table().node_count(), 0U);
  EXPECT_THAT(listener_.Take(), ElementsAre("NodeDelete"));
}

TEST_F(EventRouterTest, OtherObjectsAreKeptAndTold) {
  const ObjectRef claim = Claim("c");
  router_.OnObject({.type = WatchType::kAdded, .object = claim, .previous = ObjectRef()});
  EXPECT_EQ(store_.Get("v1/PersistentVolumeClaim", "default", "c"), claim);
  const ObjectRef now = Claim("c");
  router_.OnObject({.type = WatchType::kModified, .object = now, .previous = claim});
  EXPECT_EQ(store_.Get("v1/PersistentVolumeClaim", "default", "c"), now);
  router_.OnObject({.type = WatchType::kModified, .object = now, .previous = now});
  router_.OnObject({.type = WatchType::kDeleted, .object = now, .previous = now});
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_THAT(listener_.Take(),
              ElementsAre("PersistentVolumeClaimAdd", "PersistentVolumeClaimUpdate",
                          "PersistentVolumeClaimDelete"));
}

// The watch was lost meanwhile: who waits for a claim to come, or to go, must hear of both.
TEST_F(EventRouterTest, AnObjectThatWasReplacedUnseenGoesAndComes) {
  const ObjectRef first = Claim("c", "uid-1");
  router_.OnObject({.type = WatchType::kAdded, .object = first, .previous = ObjectRef()});
  const ObjectRef second = Claim("c", "uid-2");
  router_.OnObject({.type = WatchType::kModified, .object = second, .previous = first});
  EXPECT_EQ(store_.Get("v1/PersistentVolumeClaim", "default", "c"), second);
  EXPECT_THAT(listener_.Take(),
              ElementsAre("PersistentVolumeClaimAdd", "PersistentVolumeClaimDelete",
                          "PersistentVolumeClaimAdd"));
  // A third one has come and gone.
  const ObjectRef third = Claim("c", "uid-3");
  router_.OnObject({.type = WatchType::kDeleted, .object = third, .previous = second});
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_THAT(listener_.Take(), ElementsAre("PersistentVolumeClaimDelete"));
}

}  // namespace
}  // namespace berth::host
