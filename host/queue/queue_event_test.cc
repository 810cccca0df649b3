#include "host/queue/queue_event.h"

#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/emulated_version.h"

namespace berth::host {
namespace {

struct KindCase {
  const char* kind;
  uint32_t resource;
};

constexpr KindCase kKinds[] = {
    {"v1/Node", BERTH_RESOURCE_NODE},
    {"v1/PersistentVolume", BERTH_RESOURCE_PV},
    {"v1/PersistentVolumeClaim", BERTH_RESOURCE_PVC},
    {"storage.k8s.io/v1/CSINode", BERTH_RESOURCE_CSI_NODE},
    {"storage.k8s.io/v1/CSIDriver", BERTH_RESOURCE_CSI_DRIVER},
    {"storage.k8s.io/v1/VolumeAttachment", BERTH_RESOURCE_VOLUME_ATTACHMENT},
    {"storage.k8s.io/v1/CSIStorageCapacity", BERTH_RESOURCE_CSI_STORAGE_CAPACITY},
    {"storage.k8s.io/v1beta1/CSIStorageCapacity", BERTH_RESOURCE_CSI_STORAGE_CAPACITY},
    {"storage.k8s.io/v1/StorageClass", BERTH_RESOURCE_STORAGE_CLASS},
    {"resource.k8s.io/v1/ResourceClaim", BERTH_RESOURCE_RESOURCE_CLAIM},
    {"resource.k8s.io/v1beta2/ResourceSlice", BERTH_RESOURCE_RESOURCE_SLICE},
    {"resource.k8s.io/v1/DeviceClass", BERTH_RESOURCE_DEVICE_CLASS},
    {"scheduling.k8s.io/v1alpha2/PodGroup", BERTH_RESOURCE_POD_GROUP},
    {"v1/Namespace", BERTH_RESOURCE_CUSTOM},
    {"policy/v1/PodDisruptionBudget", BERTH_RESOURCE_CUSTOM},
    {"acme.io/v1/Node", BERTH_RESOURCE_CUSTOM},
    {"acme.io/v1/PodGroup", BERTH_RESOURCE_CUSTOM},
    {"Node", BERTH_RESOURCE_NODE},
    {"", BERTH_RESOURCE_CUSTOM},
};

TEST(QueueEventTest, MapsKindsToResources) {
  for (const KindCase& c : kKinds) EXPECT_EQ(EventResourceOf(c.kind), c.resource) << c.kind;
}

struct LabelCase {
  uint32_t resource;
  uint32_t action;
  const char* label;
};

constexpr LabelCase kLabels[] = {
    {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE, "AssignedPodDelete"},
    {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_UPDATE, "AssignedPodUpdate"},
    {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, "NodeAdd"},
    {BERTH_RESOURCE_NODE, BERTH_ACTION_UPDATE_NODE_TAINT, "NodeUpdateNodeTaint"},
    {BERTH_RESOURCE_CSI_NODE, BERTH_ACTION_UPDATE, "storage.k8s.io/CSINodeUpdate"},
    {BERTH_RESOURCE_PVC, 1U << 20, "PersistentVolumeClaimUpdate"},
    {BERTH_RESOURCE_WILDCARD, BERTH_ACTION_ALL, "UnschedulableTimeout"},
};

TEST(QueueEventTest, LabelsEqualThoseOfKubeScheduler) {
  for (const LabelCase& c : kLabels) {
    for (const KubeVersion version : kEmulatedVersions) {
      EXPECT_EQ(EventLabel({.resource = c.resource, .action = c.action}, version), c.label);
    }
  }
}

// Recorded from the sources of both versions: framework/events.go and framework/types.go.
TEST(QueueEventTest, LabelsOfPodsWithoutNodeDependOnVersion) {
  const struct {
    uint32_t resource;
    uint32_t action;
    const char* in_1_36;
    const char* in_1_37;
  } cases[] = {
      {BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD, "UnschedulablePodAdd",
       "UnscheduledPodAdd"},
      {BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_DELETE, "UnschedulablePodDelete",
       "UnscheduledPodDelete"},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_LABEL, "UnschedulablePodUpdatePodLabel",
       "TargetPodUpdatePodLabel"},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE, "UnschedulablePodUpdate", "TargetPodUpdate"},
  };
  for (const auto& c : cases) {
    const QueueEvent event{.resource = c.resource, .action = c.action};
    EXPECT_EQ(EventLabel(event, {1, 36}), c.in_1_36);
    EXPECT_EQ(EventLabel(event, {1, 37}), c.in_1_37);
  }
}

TEST(QueueEventTest, FirstActionOfAChange) {
  EXPECT_EQ(FirstAction(BERTH_ACTION_UPDATE), uint32_t{BERTH_ACTION_UPDATE});
  EXPECT_EQ(FirstAction(BERTH_ACTION_UPDATE_POD_TOLERATION),
            uint32_t{BERTH_ACTION_UPDATE_POD_TOLERATION});
  EXPECT_EQ(FirstAction(BERTH_ACTION_UPDATE_POD_LABEL | BERTH_ACTION_UPDATE_POD_TOLERATION),
            uint32_t{BERTH_ACTION_UPDATE_POD_LABEL});
  EXPECT_EQ(FirstAction(0), 0U);
}

TEST(QueueEventTest, ACustomEventIsLabelledByItsKind) {
  TestObjects objects;
  const ObjectRef thing =
      objects.ObjectFrom(R"({"apiVersion":"acme.io/v1","kind":"Thing","metadata":{"name":"t"}})");
  const QueueEvent added{.resource = BERTH_RESOURCE_CUSTOM,
                         .action = BERTH_ACTION_ADD,
                         .before = ObjectRef(),
                         .after = thing};
  EXPECT_EQ(KindOf(added), "acme.io/v1/Thing");
  EXPECT_EQ(EventLabel(added, kNewestKubeVersion), "acme.io/v1/ThingAdd");
  const QueueEvent gone{.resource = BERTH_RESOURCE_CUSTOM,
                        .action = BERTH_ACTION_DELETE,
                        .before = thing,
                        .after = ObjectRef()};
  EXPECT_EQ(KindOf(gone), "acme.io/v1/Thing");
  EXPECT_EQ(KindOf(QueueEvent()), "");
}

TEST(QueueEventTest, WildcardEventMayBeLimitedToOnePod) {
  TestObjects objects;
  const PodRef pod = objects.Pod({.name = "a"});
  QueueEvent event;
  EXPECT_EQ(OnlyPodOf(event), nullptr);
  event.after = pod;
  EXPECT_EQ(OnlyPodOf(event), pod.get());
  EXPECT_EQ(EventLabel(event, kNewestKubeVersion), "ForceActivate");
  event.resource = BERTH_RESOURCE_ASSIGNED_POD;
  EXPECT_EQ(OnlyPodOf(event), nullptr);
}

TEST(QueueEventTest, RemovedNominationIsDeletionOfANominatedPod) {
  TestObjects objects;
  struct Case {
    const char* description;
    std::string status;
    bool is_same_pod;
  };
  const Case cases[] = {
      {"the status has the nomination", R"("nominatedNodeName":"n")", true},
      {"the status has another nomination", R"("nominatedNodeName":"m")", false},
      {"the status has no nomination", "", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    const PodRef pod = objects.Pod({.name = "a", .status = c.status});
    const QueueEvent event = NominationRemovedEvent(pod, "n");
    EXPECT_EQ(EventLabel(event, kNewestKubeVersion), "AssignedPodDelete");
    const PodRef before = std::get<PodRef>(event.before);
    EXPECT_EQ(before->uid(), pod->uid());
    EXPECT_EQ(before->nominated_node(), "n");
    EXPECT_EQ(before == pod, c.is_same_pod);
    EXPECT_EQ(std::get<PodRef>(event.after), nullptr);
  }
}

}  // namespace
}  // namespace berth::host
