#include "host/event/event_router.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/event/test_event_router.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- Pods ---------------------------------------------------------------------------------------

TEST_F(EventRouterTest, NodelessPodIsQueuedWithoutAnEvent) {
  const PodRef pod = Added(Pod({.name = "a"}));
  EXPECT_TRUE(Queued("uid-a"));
  EXPECT_FALSE(Cached("uid-a"));
  Deleted(pod);
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_THAT(policy_.Take(), IsEmpty());
}

TEST_F(EventRouterTest, OtherSchedulersPodsCountOnceTheyAreBound) {
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

TEST_F(EventRouterTest, AssignedPodMovesFromQueueToTheCache) {
  const PodRef pod = Added(Pod({.name = "a"}));
  Changed(pod, Pod({.name = "a", .node = "n1"}));
  EXPECT_FALSE(Queued("uid-a"));
  EXPECT_TRUE(Cached("uid-a"));
  EXPECT_THAT(policy_.Take(), ElementsAre("AssignedPodAdd"));
}

TEST_F(EventRouterTest, EachChangeOfAssignedPodIsAnEvent) {
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

TEST_F(EventRouterTest, RecreatedPodIsAnotherPod) {
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

TEST_F(EventRouterTest, MissedDeletionRemovesPodFromQueueOrCache) {
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

TEST_F(EventRouterTest, ReportsBothStepsOfAnAssumedPodsDeletion) {
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

TEST_F(EventRouterTest, WrongAssumptionIsAnEventForOtherPods) {
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
TEST_F(EventRouterTest, OldEventDoesNotQueueBoundPodAgain) {
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

TEST_F(EventRouterTest, ForgottenAssumedPodIsADeletionForOthers) {
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
TEST_F(EventRouterTest, ObjectReplacedWhileUnwatchedIsDeletedAndAdded) {
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

}  // namespace
}  // namespace berth::host
