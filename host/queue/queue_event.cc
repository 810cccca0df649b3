#include "host/queue/queue_event.h"

#include <algorithm>
#include <utility>

#include "host/api/part_hash.h"
#include "host/api/requests.h"
#include "host/base/kind_name.h"

namespace berth::host {
namespace {

// Returns kube-scheduler's name of a resource that stands for pods; empty for another resource. Up
// to 1.36, it had one name for all pods without a node, and called a pod's own update by it, too.
// (1.36: pkg/scheduler/framework/types.go; 1.37: k8s.io/kube-scheduler/framework/types.go)
std::string_view PodResourceName(uint32_t resource, KubeVersion emulated) {
  const bool has_target = emulated >= KubeVersion{.major = 1, .minor = 37};
  switch (resource) {
    case BERTH_RESOURCE_POD_ANY: return "Pod";
    case BERTH_RESOURCE_ASSIGNED_POD: return "AssignedPod";
    case BERTH_RESOURCE_UNSCHEDULED_POD: return has_target ? "UnscheduledPod" : "UnschedulablePod";
    case BERTH_RESOURCE_TARGET_POD: return has_target ? "TargetPod" : "UnschedulablePod";
    default: return "";
  }
}

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

std::string_view ResourceName(const QueueEvent& event, KubeVersion emulated) {
  if (event.resource == BERTH_RESOURCE_CUSTOM) return KindOf(event);
  const std::string_view name = PodResourceName(event.resource, emulated);
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

namespace {

// Returns the pod with this nomination in its status, even if the status never had it.
PodRef WithNomination(const PodRef& pod, std::string_view node) {
  if (pod->nominated_node() == node) return pod;
  PodStatusPatch patch;
  patch.nominated_node = node;
  return WithStatus(pod, patch, pod->resource_version());
}

}  // namespace

QueueEvent NominationRemovedEvent(const PodRef& pod, std::string_view node) {
  return {.resource = BERTH_RESOURCE_ASSIGNED_POD,
          .action = BERTH_ACTION_DELETE,
          .before = WithNomination(pod, node),
          .after = PodRef()};
}

QueueEvent NominatedPodEvent(const PodRef& old, const PodRef& pod, std::string_view node,
                             uint32_t action) {
  return {.resource = BERTH_RESOURCE_ASSIGNED_POD,
          .action = action,
          .before = WithNomination(old, node),
          .after = WithNomination(pod, node)};
}

std::string EventLabel(const QueueEvent& event, KubeVersion emulated) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) {
    return OnlyPodOf(event) != nullptr ? "ForceActivate" : "UnschedulableTimeout";
  }
  const std::string_view action = NameIn(kActions, event.action);
  return std::string(ResourceName(event, emulated)).append(action.empty() ? "Update" : action);
}

// --- object change -------------------------------------------------------------------------------

namespace {

template <class T, class Equal>
bool AllEqual(const berth_array& a, const berth_array& b, Equal equal) {
  return std::ranges::equal(Elements<T>(a), Elements<T>(b), equal);
}

// Compares arrays of pairs that are sorted by id, so that equal sets are equal arrays.
bool SamePairs(const berth_array& a, const berth_array& b) {
  return AllEqual<berth_id_pair>(a, b, [](const berth_id_pair& x, const berth_id_pair& y) {
    return x.key == y.key && x.value == y.value;
  });
}

bool SameIds(const berth_array& a, const berth_array& b) {
  return AllEqual<berth_id>(a, b, [](berth_id x, berth_id y) { return x == y; });
}

bool SameTaints(const berth_array& a, const berth_array& b) {
  return AllEqual<berth_taint>(a, b, [](const berth_taint& x, const berth_taint& y) {
    return x.key == y.key && x.value == y.value && x.effect == y.effect;
  });
}

// Compares annotations, which are sorted by key.
bool SameAnnotations(const berth_array& a, const berth_array& b) {
  return AllEqual<berth_str_pair>(a, b, [](const berth_str_pair& x, const berth_str_pair& y) {
    return Text(x.key) == Text(y.key) && Text(x.value) == Text(y.value);
  });
}

// Returns the last condition of the type, as kube-scheduler's map does; null if there is none.
const berth_condition* FindCondition(std::span<const berth_condition> conditions, Id type) {
  const berth_condition* found = nullptr;
  for (const berth_condition& condition : conditions) {
    if (condition.type == type) found = &condition;
  }
  return found;
}

// Returns whether each condition of `a` is in `b` with the same status.
bool AllFound(std::span<const berth_condition> a, std::span<const berth_condition> b) {
  return std::all_of(a.begin(), a.end(), [a, b](const berth_condition& condition) {
    const berth_condition* there = FindCondition(b, condition.type);
    return there != nullptr && there->status == FindCondition(a, condition.type)->status;
  });
}

bool SameConditions(const berth_array& a, const berth_array& b) {
  const auto first = Elements<berth_condition>(a);
  const auto second = Elements<berth_condition>(b);
  return AllFound(first, second) && AllFound(second, first);
}

bool AnyScalarShrank(const berth_array& old, const berth_array& now) {
  const auto after = Elements<berth_quantity>(now);
  auto found = after.begin();
  for (const berth_quantity& before : Elements<berth_quantity>(old)) {
    // Both are sorted by name.
    while (found != after.end() && found->name < before.name) ++found;
    if (found == after.end() || found->name != before.name || found->value < before.value) {
      return true;
    }
  }
  return false;
}

bool AnyShrank(const berth_resources& old, const berth_resources& now) {
  return (old.present & ~now.present) != 0 || now.milli_cpu < old.milli_cpu ||
         now.memory < old.memory || now.ephemeral_storage < old.ephemeral_storage ||
         AnyScalarShrank(old.scalars, now.scalars);
}

// Compares what the pod status records about claims generated from templates.
bool SameClaims(const berth_array& a, const berth_array& b) {
  return AllEqual<berth_resource_claim>(
      a, b, [](const berth_resource_claim& x, const berth_resource_claim& y) {
        return Text(x.name) == Text(y.name) && Text(x.claim_name) == Text(y.claim_name) &&
               x.flags == y.flags;
      });
}

}  // namespace

uint32_t NodeChange(const Node& old, const Node& now) {
  const berth_node& before = old.view();
  const berth_node& after = now.view();
  uint32_t actions = 0;
  const auto note = [&actions](bool changed, uint32_t action) { actions |= changed ? action : 0; };
  note(!SameResources(*before.allocatable, *after.allocatable),
       BERTH_ACTION_UPDATE_NODE_ALLOCATABLE);
  note(!SamePairs(before.meta->labels, after.meta->labels), BERTH_ACTION_UPDATE_NODE_LABEL);
  const bool became_schedulable = before.unschedulable != 0 && after.unschedulable == 0;
  note(became_schedulable || !SameTaints(before.taints, after.taints),
       BERTH_ACTION_UPDATE_NODE_TAINT);
  note(!SameConditions(before.conditions, after.conditions), BERTH_ACTION_UPDATE_NODE_CONDITION);
  note(!SameAnnotations(before.meta->annotations, after.meta->annotations),
       BERTH_ACTION_UPDATE_NODE_ANNOTATION);
  note(!SameIds(before.declared_features, after.declared_features),
       BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE);
  return actions;
}

uint32_t PodChange(const Pod& old, const Pod& now) {
  const berth_pod& before = old.view();
  const berth_pod& after = now.view();
  uint32_t actions = 0;
  const auto note = [&actions](bool changed, uint32_t action) { actions |= changed ? action : 0; };
  note(!SamePairs(before.meta->labels, after.meta->labels), BERTH_ACTION_UPDATE_POD_LABEL);
  note(AnyShrank(*before.accounted, *after.accounted), BERTH_ACTION_UPDATE_POD_SCALE_DOWN);
  note(before.tolerations.count != after.tolerations.count, BERTH_ACTION_UPDATE_POD_TOLERATION);
  note(before.scheduling_gates.count != 0 && after.scheduling_gates.count == 0,
       BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED);
  note(!SameClaims(before.resource_claims, after.resource_claims),
       BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM);
  return actions != 0 ? actions : uint32_t{BERTH_ACTION_UPDATE};
}

bool OnlyStatusChanged(const Pod& old, const Pod& now) {
  constexpr uint64_t kStatus = BERTH_PART(IDENTITY) | BERTH_PART(STATUS) | BERTH_PART(NOMINATION);
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((kStatus >> part & 1) == 0 && old.part_hash(part) != now.part_hash(part)) return false;
  }
  return true;
}

// --- interest table ------------------------------------------------------------------------------

namespace {

// Returns the resource that an interest names. A CUSTOM interest in a kind that has its own
// resource is an interest in that resource.
uint32_t ResourceOf(const Interest& interest) {
  if (interest.resource != BERTH_RESOURCE_CUSTOM) return interest.resource;
  return interest.kind == "v1/Pod" ? uint32_t{BERTH_RESOURCE_POD_ANY}
                                   : EventResourceOf(interest.kind);
}

// Returns whether an interest in one resource covers an event of another. Only an interest that
// names UNSCHEDULED_POD covers those events, because there is one for every new pod.
bool Covers(uint32_t interest, uint32_t event) {
  if (interest == event) return true;
  if (interest == BERTH_RESOURCE_WILDCARD) return event != BERTH_RESOURCE_UNSCHEDULED_POD;
  return interest == BERTH_RESOURCE_POD_ANY &&
         (event == BERTH_RESOURCE_ASSIGNED_POD || event == BERTH_RESOURCE_TARGET_POD);
}

// The second condition keeps an unspecific update (BERTH_ACTION_UPDATE) from matching interests in
// specific updates only.
bool CoversAction(uint32_t interest, uint32_t event) {
  return (interest & event) != 0 && event <= interest;
}

}  // namespace

void InterestTable::Build(std::span<const Interest> interests) {
  for (auto& list : by_resource_) list.clear();
  by_kind_.clear();
  hint_parts_.clear();
  // Create the lists of all kinds first: a WILDCARD interest is added to each of them.
  for (const Interest& interest : interests) {
    if (ResourceOf(interest) != BERTH_RESOURCE_CUSTOM) continue;
    for (const std::string& kind : KindsOf(interest.kind)) by_kind_.try_emplace(kind);
  }
  for (const Interest& interest : interests) {
    const uint32_t named = ResourceOf(interest);
    const std::vector<std::string> kinds =
        named == BERTH_RESOURCE_CUSTOM ? KindsOf(interest.kind) : std::vector<std::string>();
    for (uint32_t resource = 0; resource < kResourceCount; ++resource) {
      const bool is_kind = named == BERTH_RESOURCE_CUSTOM;
      if (!is_kind && Covers(named, resource)) by_resource_[resource].push_back(&interest);
    }
    for (auto& [kind, list] : by_kind_) {
      const bool is_this = std::ranges::find(kinds, kind) != kinds.end();
      if (is_this || named == BERTH_RESOURCE_WILDCARD) list.push_back(&interest);
    }
    if (!interest.has_hint) continue;
    HintParts& parts = hint_parts_[interest.plugin];
    parts.mask |= interest.pod_parts & kAllParts;
    // Without declared parts, or with a part that is unknown to this host, the hint may depend on
    // anything.
    if (interest.pod_parts == 0 || (interest.pod_parts & ~kAllParts) != 0) parts.each_pod = true;
  }
}

void InterestTable::Find(const QueueEvent& event, std::vector<const Interest*>& out) const {
  if (event.resource == BERTH_RESOURCE_WILDCARD || event.resource >= kResourceCount) return;
  const std::vector<const Interest*>* list = &by_resource_[event.resource];
  if (event.resource == BERTH_RESOURCE_CUSTOM) {
    const auto found = by_kind_.find(KindOf(event));
    if (found != by_kind_.end()) list = &found->second;
  }
  for (const Interest* interest : *list) {
    if (CoversAction(interest->actions, event.action)) out.push_back(interest);
  }
}

InterestTable::HintParts InterestTable::PartsOf(PluginId plugin) const {
  const auto found = hint_parts_.find(plugin);
  return found != hint_parts_.end() ? found->second : HintParts{};
}

}  // namespace berth::host
