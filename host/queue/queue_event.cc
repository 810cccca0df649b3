#include "host/queue/queue_event.h"

#include <algorithm>
#include <span>
#include <utility>

namespace berth::host {
namespace {

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

std::string_view NameIn(std::span<const std::pair<uint32_t, std::string_view>> table,
                        uint32_t value) {
  const auto found = std::ranges::find(table, value, [](const auto& row) { return row.first; });
  return found != table.end() ? found->second : std::string_view();
}

std::string_view ResourceName(const QueueEvent& event) {
  if (event.resource == BERTH_RESOURCE_CUSTOM) return KindOf(event);
  const std::string_view name = NameIn(kPods, event.resource);
  return name.empty() ? KindOfResource(event.resource) : name;
}

}  // namespace

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
