#include "host/process/shadow/shadow_event.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {
namespace {

class ShadowEventTest : public ::testing::Test {
 protected:
  static WatchEvent Added(AnyObject object) { return {WatchType::kAdded, std::move(object), {}}; }
  static WatchEvent Deleted(const AnyObject& object) {
    return {WatchType::kDeleted, object, object};
  }
  static WatchEvent Modified(AnyObject before, AnyObject after) {
    return {WatchType::kModified, std::move(after), std::move(before)};
  }
  // The n-th version of the pod "p".
  PodRef Pod(int version, TestPod pod = {.name = "p"}) {
    pod.meta += (pod.meta.empty() ? "" : ",") + std::string(R"("resourceVersion":")") +
                std::to_string(version) + '"';
    return objects_.Pod(pod);
  }
  NodeRef Node(const std::string& labels, const std::string& spec = "") {
    return objects_.Node({.name = "n1", .labels = labels, .spec = spec});
  }

  TestObjects objects_;
};

TEST_F(ShadowEventTest, KindsAndDescriptions) {
  const TestPod bound{.name = "p", .node = "n1"};
  const ObjectRef claim =
      objects_.ObjectFrom(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
                          R"("metadata":{"namespace":"d","name":"c"}})");
  using enum ShadowEventKind;
  struct Case {
    const char* name;
    WatchEvent event;
    ShadowEventKind kind;
    const char* description;
  };
  const std::vector<Case> table = {
      {"new pod", Added(Pod(1)), kNeutral, "pod default/p was added"},
      {"new pod with a node", Added(Pod(1, bound)), kEnvironment, "pod default/p was added"},
      {"binding", Modified(Pod(1), Pod(2, bound)), kPlacement, "pod default/p was bound"},
      {"nomination",
       Modified(Pod(1), Pod(2, {.name = "p", .status = R"("nominatedNodeName":"n1")"})),
       kNomination, "pod default/p was nominated"},
      {"same nomination",
       Modified(Pod(1, {.name = "p", .status = R"("nominatedNodeName":"n1")"}),
                Pod(2, {.name = "p", .status = R"("nominatedNodeName":"n1","phase":"Pending")"})),
       kNeutral, "pod default/p was changed"},
      {"end of a nomination",
       Modified(Pod(1, {.name = "p", .status = R"("nominatedNodeName":"n1")"}), Pod(2)), kNeutral,
       "pod default/p was changed"},
      {"status of a bound pod",
       Modified(Pod(1, bound),
                Pod(2, {.name = "p", .node = "n1", .status = R"("phase":"Running")"})),
       kNeutral, "pod default/p was changed"},
      {"labels of a bound pod",
       Modified(Pod(1, bound),
                Pod(2, {.name = "p", .node = "n1", .meta = R"("labels":{"a":"b"})"})),
       kEnvironment, "pod default/p was changed"},
      {"deletion of a bound pod begins",
       Modified(Pod(1, bound), Pod(2, {.name = "p",
                                       .node = "n1",
                                       .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"})),
       kEnvironment, "pod default/p was changed"},
      {"deleted pod", Deleted(Pod(1)), kNeutral, "pod default/p was deleted"},
      {"deleted pod with a node", Deleted(Pod(1, bound)), kEnvironment,
       "pod default/p was deleted"},
      {"new node", Added(Node("")), kEnvironment, "node n1 was added"},
      {"heartbeat", Modified(Node(""), Node("")), kNeutral, "node n1 was changed"},
      {"labels of a node", Modified(Node(""), Node(R"("a":"b")")), kEnvironment,
       "node n1 was changed"},
      {"cordoned node", Modified(Node(""), Node("", R"("unschedulable":true)")), kEnvironment,
       "node n1 was changed"},
      {"deleted node", Deleted(Node("")), kEnvironment, "node n1 was deleted"},
      {"other object", Modified(claim, claim), kEnvironment,
       "PersistentVolumeClaim d/c was changed"},
  };
  for (const Case& each : table) {
    EXPECT_EQ(ClassifyShadowEvent(each.event), each.kind) << each.name;
    EXPECT_EQ(DescribeChange(each.event), each.description) << each.name;
  }
  EXPECT_EQ(ClassifyShadowEvent({}), kMark);
  EXPECT_EQ(ClassifyShadowEvent({.type = WatchType::kNotServed, .object = {}, .previous = {}}),
            kMark);
}

TEST_F(ShadowEventTest, TheInverseOfTheInverseIsTheEvent) {
  const PodRef before = Pod(1);
  const PodRef after = Pod(2, {.name = "p", .node = "n1"});
  const std::vector<WatchEvent> table = {Added(before), Modified(before, after), Deleted(after)};
  const std::vector<WatchType> inverse_types = {WatchType::kDeleted, WatchType::kModified,
                                                WatchType::kAdded};
  for (size_t i = 0; i < table.size(); ++i) {
    const WatchEvent inverse = InverseOf(table[i]);
    EXPECT_EQ(inverse.type, inverse_types[i]);
    const WatchEvent again = InverseOf(inverse);
    EXPECT_EQ(again.type, table[i].type);
    EXPECT_EQ(again.object, table[i].object);
  }
  EXPECT_EQ(InverseOf(table[1]).object, AnyObject(before));
  EXPECT_EQ(InverseOf(table[1]).previous, AnyObject(after));
}

TEST_F(ShadowEventTest, ChangesOfPlacedPods) {
  const TestPod bound{.name = "p", .node = "n1"};
  struct Case {
    const char* name;
    WatchEvent event;
    bool expected;
  };
  const std::vector<Case> table = {
      {"new pod", Added(Pod(1)), false},
      {"new pod with a node", Added(Pod(1, bound)), true},
      {"pending pod", Modified(Pod(1), Pod(2)), false},
      {"binding", Modified(Pod(1), Pod(2, bound)), false},
      {"status", Modified(Pod(1, bound), Pod(2, bound)), true},
      {"deletion of a pending pod", Deleted(Pod(1)), false},
      {"deletion", Deleted(Pod(1, bound)), true},
      {"node", Added(Node("")), false},
  };
  for (const Case& each : table) {
    const ShadowEvent event(std::make_shared<ShadowRoute>(), each.event, 0);
    EXPECT_EQ(event.ChangesPlacedPod(), each.expected) << each.name;
  }
}

TEST_F(ShadowEventTest, EventsOfAnEndedWatchAreDropped) {
  const ShadowEvent event(std::make_shared<ShadowRoute>(), Added(Pod(1)), 0);
  event.Apply();
  event.Undo();
  EXPECT_TRUE(event.IsAboutPod("uid-p"));
  EXPECT_FALSE(event.IsAboutPod("uid-q"));
  EXPECT_FALSE(event.IsAboutPod(""));
}

}  // namespace
}  // namespace berth::host
