#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/queue/queue_event.h"

namespace berth::host {
namespace {

// `old` and `now` are the parts of the object besides its name: "metadata", "spec" or "status", a
// colon, and the fields within. An empty string stands for no further fields.
struct ChangeCase {
  const char* description;
  const char* old;
  const char* now;
  uint32_t actions;
};

std::string ObjectJson(std::string_view text) {
  const std::string head = R"({"metadata":{"name":"x")";
  if (text.empty()) return head + "}}";
  const size_t colon = text.find(':');
  const std::string part(text.substr(0, colon));
  const std::string fields(text.substr(colon + 1));
  if (part == "metadata") return head + "," + fields + "}}";
  return head + "},\"" + part + "\":{" + fields + "}}";
}

constexpr ChangeCase kNodeChanges[] = {
    {"nothing", "", "", 0},
    {"a heartbeat", R"(status:"conditions":[{"type":"Ready","status":"True","reason":"A"}])",
     R"(status:"conditions":[{"type":"Ready","status":"True","reason":"B"}])", 0},
    {"a new image", "", R"(status:"images":[{"names":["a:1"],"sizeBytes":5}])", 0},
    {"a condition's status", R"(status:"conditions":[{"type":"Ready","status":"True"}])",
     R"(status:"conditions":[{"type":"Ready","status":"Unknown"}])",
     BERTH_ACTION_UPDATE_NODE_CONDITION},
    {"a condition was added", "", R"(status:"conditions":[{"type":"Ready","status":"True"}])",
     BERTH_ACTION_UPDATE_NODE_CONDITION},
    {"a condition was removed", R"(status:"conditions":[{"type":"Ready","status":"True"}])", "",
     BERTH_ACTION_UPDATE_NODE_CONDITION},
    {"conditions in another order",
     R"(status:"conditions":[{"type":"A","status":"True"},{"type":"B","status":"False"}])",
     R"(status:"conditions":[{"type":"B","status":"False"},{"type":"A","status":"True"}])", 0},
    {"more allocatable cpu", R"(status:"allocatable":{"cpu":"4"})",
     R"(status:"allocatable":{"cpu":"8"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"less allocatable cpu", R"(status:"allocatable":{"cpu":"4"})",
     R"(status:"allocatable":{"cpu":"3999m"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"the same amount in another unit", R"(status:"allocatable":{"memory":"1Gi"})",
     R"(status:"allocatable":{"memory":"1024Mi"})", 0},
    {"more allocatable pods", R"(status:"allocatable":{"pods":"10"})",
     R"(status:"allocatable":{"pods":"11"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"a device was added", R"(status:"allocatable":{"cpu":"4"})",
     R"(status:"allocatable":{"cpu":"4","a.io/gpu":"1"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"fewer devices", R"(status:"allocatable":{"a.io/gpu":"2"})",
     R"(status:"allocatable":{"a.io/gpu":"1"})", BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"a label was added", R"(metadata:"labels":{"a":"1"})",
     R"(metadata:"labels":{"a":"1","b":"2"})", BERTH_ACTION_UPDATE_NODE_LABEL},
    {"a label's value", R"(metadata:"labels":{"a":"1"})", R"(metadata:"labels":{"a":""})",
     BERTH_ACTION_UPDATE_NODE_LABEL},
    {"labels in another order", R"(metadata:"labels":{"a":"1","b":"2"})",
     R"(metadata:"labels":{"b":"2","a":"1"})", 0},
    {"an annotation's value", R"(metadata:"annotations":{"a":"1"})",
     R"(metadata:"annotations":{"a":"2"})", BERTH_ACTION_UPDATE_NODE_ANNOTATION},
    {"another annotation with the same value", R"(metadata:"annotations":{"a":"1"})",
     R"(metadata:"annotations":{"b":"1"})", BERTH_ACTION_UPDATE_NODE_ANNOTATION},
    {"annotations in another order", R"(metadata:"annotations":{"a":"1","b":"2"})",
     R"(metadata:"annotations":{"b":"2","a":"1"})", 0},
    {"a taint was added", "", R"(spec:"taints":[{"key":"k","effect":"NoSchedule"}])",
     BERTH_ACTION_UPDATE_NODE_TAINT},
    {"a taint's effect", R"(spec:"taints":[{"key":"k","effect":"NoSchedule"}])",
     R"(spec:"taints":[{"key":"k","effect":"NoExecute"}])", BERTH_ACTION_UPDATE_NODE_TAINT},
    {"became schedulable", R"(spec:"unschedulable":true)", "", BERTH_ACTION_UPDATE_NODE_TAINT},
    {"became unschedulable", "", R"(spec:"unschedulable":true)", 0},
    {"a declared feature", "", R"(status:"declaredFeatures":["F"])",
     BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE},
    {"several at once", R"(metadata:"labels":{"a":"1"},"annotations":{"b":"1"})",
     R"(status:"allocatable":{"cpu":"1"})",
     BERTH_ACTION_UPDATE_NODE_LABEL | BERTH_ACTION_UPDATE_NODE_ANNOTATION |
         BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
};

class ObjectChangeTest : public ::testing::Test {
 protected:
  TestObjects objects_;
};

TEST_F(ObjectChangeTest, FindsTheChangesOfANode) {
  for (const ChangeCase& c : kNodeChanges) {
    const NodeRef old = objects_.NodeFrom(ObjectJson(c.old));
    const NodeRef now = objects_.NodeFrom(ObjectJson(c.now));
    EXPECT_EQ(NodeChange(*old, *now), c.actions) << c.description;
  }
}

constexpr ChangeCase kPodChanges[] = {
    {"an unspecific change", "", R"(metadata:"annotations":{"a":"1"})", BERTH_ACTION_UPDATE},
    {"a label", "", R"(metadata:"labels":{"a":"1"})", BERTH_ACTION_UPDATE_POD_LABEL},
    {"one more toleration", "", R"(spec:"tolerations":[{"operator":"Exists"}])",
     BERTH_ACTION_UPDATE_POD_TOLERATION},
    {"the last scheduling gate was removed", R"(spec:"schedulingGates":[{"name":"g"}])", "",
     BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED},
    {"one of two scheduling gates was removed",
     R"(spec:"schedulingGates":[{"name":"g"},{"name":"h"}])",
     R"(spec:"schedulingGates":[{"name":"h"}])", BERTH_ACTION_UPDATE},
    {"several at once", R"(spec:"schedulingGates":[{"name":"g"}])",
     R"(metadata:"labels":{"a":"1"})",
     BERTH_ACTION_UPDATE_POD_LABEL | BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED},
};

TEST_F(ObjectChangeTest, FindsTheChangesOfAPod) {
  for (const ChangeCase& c : kPodChanges) {
    const PodRef old = objects_.PodFrom(ObjectJson(c.old));
    const PodRef now = objects_.PodFrom(ObjectJson(c.now));
    EXPECT_EQ(PodChange(*old, *now), c.actions) << c.description;
  }
}

// `old` and `now` are the requests of the pod's container.
constexpr ChangeCase kRequestChanges[] = {
    {"less cpu", R"("cpu":"2")", R"("cpu":"1999m")", BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"the same amount of cpu", R"("cpu":"2")", R"("cpu":"2000m")", BERTH_ACTION_UPDATE},
    {"more cpu", R"("cpu":"2")", R"("cpu":"2001m")", BERTH_ACTION_UPDATE},
    {"more cpu, less memory", R"("cpu":"2","memory":"2Gi")", R"("cpu":"4","memory":"1Gi")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"less storage", R"("ephemeral-storage":"2Gi")", R"("ephemeral-storage":"1Gi")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"the memory request was removed", R"("cpu":"1","memory":"1Gi")", R"("cpu":"1")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"a memory request of zero was removed", R"("cpu":"1","memory":"0")", R"("cpu":"1")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"fewer devices", R"("a.io/gpu":"2")", R"("a.io/gpu":"1")", BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"the device request was removed", R"("cpu":"1","a.io/gpu":"2")", R"("cpu":"1")",
     BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
    {"more devices", R"("a.io/gpu":"1")", R"("a.io/gpu":"2")", BERTH_ACTION_UPDATE},
};

TEST_F(ObjectChangeTest, FindsSmallerRequests) {
  const auto with_requests = [this](const std::string& requests) {
    return objects_.PodFrom(
        R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","resources":{"requests":{)" +
        requests + "}}}]}}");
  };
  for (const ChangeCase& c : kRequestChanges) {
    EXPECT_EQ(PodChange(*with_requests(c.old), *with_requests(c.now)), c.actions) << c.description;
  }
}

TEST_F(ObjectChangeTest, FindsAGeneratedResourceClaim) {
  const std::string head = R"({"metadata":{"name":"x"},"spec":{"resourceClaims":[{"name":"r",)"
                           R"("resourceClaimTemplateName":"t"}]})";
  const PodRef old = objects_.PodFrom(head + "}");
  const PodRef now = objects_.PodFrom(
      head + R"(,"status":{"resourceClaimStatuses":[{"name":"r","resourceClaimName":"x-r-1"}]}})");
  EXPECT_EQ(PodChange(*old, *now), BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM);
  EXPECT_EQ(PodChange(*now, *now), BERTH_ACTION_UPDATE);
}

TEST(PodChange, StatusOnlyChangesAreSchedulerWrites) {
  TestObjects objects;
  const PodRef pod = objects.Pod({.name = "p", .requests = "\"cpu\":\"1\""});
  PodStatusPatch patch;
  patch.nominated_node = "n";
  patch.pod_scheduled = PodStatusPatch::Condition{.reason = "Unschedulable", .message = "m"};
  EXPECT_TRUE(OnlyStatusChanged(*pod, *WithStatus(pod, patch, "2")));
  EXPECT_TRUE(OnlyStatusChanged(*pod, *WithResourceVersion(pod, "2")));
  for (const TestPod& other :
       {TestPod{.name = "p", .requests = "\"cpu\":\"2\""},
        TestPod{.name = "p", .requests = "\"cpu\":\"1\"", .spec = R"("priority":3)"},
        TestPod{.name = "p", .requests = "\"cpu\":\"1\"", .meta = R"("annotations":{"a":"b"})"}}) {
    EXPECT_FALSE(OnlyStatusChanged(*pod, *objects.Pod(other)));
  }
}

}  // namespace
}  // namespace berth::host
