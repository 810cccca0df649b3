#include "host/queue/queue_event.h"

#include <algorithm>
#include <span>
#include <utility>

namespace berth::host {
namespace {

// Kinds without their version, spelled as in kube-scheduler's labels.
constexpr std::pair<uint32_t, std::string_view> kResources[] = {
    {BERTH_RESOURCE_NODE, "Node"},
    {BERTH_RESOURCE_PV, "PersistentVolume"},
    {BERTH_RESOURCE_PVC, "PersistentVolumeClaim"},
    {BERTH_RESOURCE_CSI_NODE, "storage.k8s.io/CSINode"},
    {BERTH_RESOURCE_CSI_DRIVER, "storage.k8s.io/CSIDriver"},
    {BERTH_RESOURCE_VOLUME_ATTACHMENT, "storage.k8s.io/VolumeAttachment"},
    {BERTH_RESOURCE_CSI_STORAGE_CAPACITY, "storage.k8s.io/CSIStorageCapacity"},
    {BERTH_RESOURCE_STORAGE_CLASS, "storage.k8s.io/StorageClass"},
    {BERTH_RESOURCE_RESOURCE_CLAIM, "resource.k8s.io/ResourceClaim"},
    {BERTH_RESOURCE_RESOURCE_SLICE, "resource.k8s.io/ResourceSlice"},
    {BERTH_RESOURCE_DEVICE_CLASS, "resource.k8s.io/DeviceClass"},
    {BERTH_RESOURCE_POD_GROUP, "scheduling.k8s.io/PodGroup"},
};

constexpr std::pair<uint32_t, std::string_view> kPods[] = {
    {BERTH_RESOURCE_POD_ANY, "Pod"},
    {BERTH_RESOURCE_ASSIGNED_POD, "AssignedPod"},
    {BERTH_RESOURCE_UNSCHEDULED_POD, "UnschedulablePod"},
    {BERTH_RESOURCE_TARGET_POD, "TargetPod"},
};

constexpr std::pair<uint32_t, std::string_view> kActions[] = {
    {BERTH_ACTION_ADD, "Add"},
    {BERTH_ACTION_DELETE, "Delete"},
    {BERTH_ACTION_UPDATE_NODE_ALLOCATABLE, "UpdateNodeAllocatable"},
    {BERTH_ACTION_UPDATE_NODE_LABEL, "UpdateNodeLabel"},
    {BERTH_ACTION_UPDATE_NODE_TAINT, "UpdateNodeTaint"},
    {BERTH_ACTION_UPDATE_NODE_CONDITION, "UpdateNodeCondition"},
    {BERTH_ACTION_UPDATE_NODE_ANNOTATION, "UpdateNodeAnnotation"},
    {BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE, "UpdateNodeDeclaredFeature"},
    {BERTH_ACTION_UPDATE_POD_LABEL, "UpdatePodLabel"},
    {BERTH_ACTION_UPDATE_POD_SCALE_DOWN, "UpdatePodScaleDown"},
    {BERTH_ACTION_UPDATE_POD_TOLERATION, "UpdatePodToleration"},
    {BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED, "UpdatePodSchedulingGatesEliminated"},
    {BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM, "UpdatePodGeneratedResourceClaim"},
    {BERTH_ACTION_UPDATE, "Update"},
    {BERTH_ACTION_ALL, "All"},
};

// Returns the kind without its version: "storage.k8s.io/CSINode" for "storage.k8s.io/v1/CSINode",
// "Node" for "v1/Node".
std::string WithoutVersion(std::string_view kind) {
  const size_t end = kind.rfind('/');
  if (end == std::string_view::npos) return std::string(kind);
  const size_t group_end = kind.substr(0, end).rfind('/');
  if (group_end == std::string_view::npos) return std::string(kind.substr(end + 1));
  return std::string(kind.substr(0, group_end)).append(kind.substr(end));
}

std::string_view NameIn(std::span<const std::pair<uint32_t, std::string_view>> table,
                        uint32_t value) {
  const auto found = std::ranges::find(table, value, [](const auto& row) { return row.first; });
  return found != table.end() ? found->second : std::string_view();
}

std::string_view ResourceName(const QueueEvent& event) {
  if (event.resource == BERTH_RESOURCE_CUSTOM) return KindOf(event);
  const std::string_view name = NameIn(kPods, event.resource);
  return name.empty() ? NameIn(kResources, event.resource) : name;
}

}  // namespace

// Ignores the version: an interest names a resource, whichever version of it is watched.
uint32_t EventResourceOf(std::string_view kind) {
  const std::string name = WithoutVersion(kind);
  for (const auto& [resource, known] : kResources) {
    if (known == name) return resource;
  }
  return BERTH_RESOURCE_CUSTOM;
}

std::string_view KindOf(const QueueEvent& event) {
  for (const AnyObject* object : {&event.after, &event.before}) {
    const auto* ref = std::get_if<ObjectRef>(object);
    if (ref != nullptr && *ref != nullptr) return (*ref)->kind();
  }
  return "";
}

const Pod* OnlyPodOf(const QueueEvent& event) {
  if (event.resource != BERTH_RESOURCE_WILDCARD) return nullptr;
  const auto* pod = std::get_if<PodRef>(&event.after);
  return pod != nullptr ? pod->get() : nullptr;
}

QueueEvent NominationRemovedEvent(const PodRef& pod, std::string_view node) {
  PodRef nominated = pod;
  if (pod->nominated_node() != node) {
    PodStatusPatch patch;
    patch.nominated_node = node;
    nominated = WithStatus(pod, patch, pod->resource_version());
  }
  return {.resource = BERTH_RESOURCE_ASSIGNED_POD,
          .action = BERTH_ACTION_DELETE,
          .before = std::move(nominated),
          .after = PodRef()};
}

std::string EventLabel(const QueueEvent& event) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) {
    return OnlyPodOf(event) != nullptr ? "ForceActivate" : "UnschedulableTimeout";
  }
  const std::string_view action = NameIn(kActions, event.action);
  return std::string(ResourceName(event)).append(action.empty() ? "Update" : action);
}

}  // namespace berth::host
