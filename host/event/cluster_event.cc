#include "host/event/cluster_event.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "host/api/requests.h"

namespace berth::host {
namespace {

// ---- Where a change goes ------------------------------------------------------------------------

bool IsAssigned(const PodRef& pod) { return pod->view().node_name != kNoId; }

bool IsOurs(const PodRef& pod, std::span<const Id> profiles) {
  return std::find(profiles.begin(), profiles.end(), pod->view().scheduler_name) != profiles.end();
}

// Whether the two are the same object in the same version. A version that nobody gave proves
// nothing.
bool IsSameVersion(const ObjectBase& old, const ObjectBase& now) {
  return old.resource_version() == now.resource_version() && !now.resource_version().empty();
}

void RouteAdded(const PodRef& pod, std::span<const Id> profiles, PodRoute& route) {
  if (IsAssigned(pod)) {
    route.Add({PodAction::kAddToCache, pod, nullptr});
  } else if (IsOurs(pod, profiles)) {
    route.Add({PodAction::kAddToQueue, pod, nullptr});
  }
}

void RouteRemoved(const PodRef& pod, std::span<const Id> profiles, PodRoute& route) {
  if (IsAssigned(pod)) {
    route.Add({PodAction::kRemoveFromCache, pod, nullptr});
  } else if (IsOurs(pod, profiles)) {
    route.Add({PodAction::kRemoveFromQueue, pod, nullptr});
  }
}

void RouteModified(const PodRef& old, const PodRef& now, std::span<const Id> profiles,
                   PodRoute& route) {
  const bool was_assigned = IsAssigned(old);
  const bool is_assigned = IsAssigned(now);
  if (was_assigned && old->view().node_name == now->view().node_name) {
    route.Add({PodAction::kUpdateInCache, now, old});
  } else if (was_assigned) {
    RouteRemoved(old, profiles, route);
    RouteAdded(now, profiles, route);
  } else if (is_assigned) {
    route.Add({PodAction::kAddToCache, now, nullptr});
    if (IsOurs(old, profiles)) route.Add({PodAction::kTakeFromQueue, now, old});
  } else if (IsOurs(old, profiles) && IsOurs(now, profiles)) {
    route.Add({PodAction::kUpdateInQueue, now, old});
  } else {
    RouteRemoved(old, profiles, route);
    RouteAdded(now, profiles, route);
  }
}

// ---- What a change is to pods that wait ---------------------------------------------------------

template <class T, class Equal>
bool AllEqual(const berth_array& a, const berth_array& b, Equal equal) {
  const auto first = Elements<T>(a);
  const auto second = Elements<T>(b);
  return std::equal(first.begin(), first.end(), second.begin(), second.end(), equal);
}

// As AllEqual, for what is sorted by id: equal sets.
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

bool SameAnnotations(const berth_array& a, const berth_array& b) {
  const auto same = [](const berth_str_pair& x, const berth_str_pair& y) {
    return Text(x.key) == Text(y.key) && Text(x.value) == Text(y.value);
  };
  if (AllEqual<berth_str_pair>(a, b, same)) return true;
  if (a.count != b.count) return false;
  // The same in another order is no change.
  const auto sorted = [](const berth_array& pairs) {
    const auto elements = Elements<berth_str_pair>(pairs);
    std::vector<berth_str_pair> copy(elements.begin(), elements.end());
    std::sort(copy.begin(), copy.end(), [](const berth_str_pair& x, const berth_str_pair& y) {
      return Text(x.key) < Text(y.key);
    });
    return copy;
  };
  const auto first = sorted(a);
  const auto second = sorted(b);
  return std::equal(first.begin(), first.end(), second.begin(), second.end(), same);
}

// The last one of a type counts, as in upstream's map.
const berth_condition* FindCondition(std::span<const berth_condition> conditions, Id type) {
  const berth_condition* found = nullptr;
  for (const berth_condition& condition : conditions) {
    if (condition.type == type) found = &condition;
  }
  return found;
}

// Whether each condition of `a` is in `b` with the same status.
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
  for (const berth_quantity& before : Elements<berth_quantity>(old)) {
    const auto found = std::find_if(after.begin(), after.end(), [&before](const berth_quantity& q) {
      return q.name == before.name;
    });
    if (found == after.end() || found->value < before.value) return true;
  }
  return false;
}

bool AnyShrank(const berth_resources& old, const berth_resources& now) {
  return (old.present & ~now.present) != 0 || now.milli_cpu < old.milli_cpu ||
         now.memory < old.memory || now.ephemeral_storage < old.ephemeral_storage ||
         AnyScalarShrank(old.scalars, now.scalars);
}

// Of claims that the pod's template names, what the status says.
bool SameClaims(const berth_array& a, const berth_array& b) {
  return AllEqual<berth_resource_claim>(
      a, b, [](const berth_resource_claim& x, const berth_resource_claim& y) {
        return Text(x.name) == Text(y.name) && Text(x.claim_name) == Text(y.claim_name) &&
               x.flags == y.flags;
      });
}

}  // namespace

PodRoute ClassifyPodEvent(const WatchEvent& event, std::span<const Id> profiles) {
  BERTH_ASSERT(event.type != WatchType::kSynced);
  PodRoute route;
  const PodRef& pod = std::get<PodRef>(event.object);
  if (event.type == WatchType::kAdded) {
    RouteAdded(pod, profiles, route);
    return route;
  }
  const PodRef& old = std::get<PodRef>(event.previous);
  if (old->uid() != pod->uid()) {
    route.Add({PodAction::kRemoveAnywhere, old, nullptr});
    if (event.type == WatchType::kModified) RouteAdded(pod, profiles, route);
    return route;
  }
  if (event.type == WatchType::kDeleted) {
    if (event.final_state_unknown) {
      route.Add({PodAction::kRemoveAnywhere, pod, nullptr});
    } else {
      RouteRemoved(pod, profiles, route);
    }
    return route;
  }
  if (!IsSameVersion(*old, *pod)) RouteModified(old, pod, profiles, route);
  return route;
}

NodeRoute ClassifyNodeEvent(const WatchEvent& event) {
  BERTH_ASSERT(event.type != WatchType::kSynced);
  NodeRoute route;
  const NodeRef& node = std::get<NodeRef>(event.object);
  if (event.type == WatchType::kAdded) {
    route.Add({WatchType::kAdded, node, nullptr});
    return route;
  }
  const NodeRef& old = std::get<NodeRef>(event.previous);
  if (event.type == WatchType::kDeleted) {
    route.Add({WatchType::kDeleted, old->uid() == node->uid() ? node : old, nullptr});
  } else if (old->uid() != node->uid()) {
    route.Add({WatchType::kDeleted, old, nullptr});
    route.Add({WatchType::kAdded, node, nullptr});
  } else if (!IsSameVersion(*old, *node)) {
    route.Add({WatchType::kModified, node, old});
  }
  return route;
}

uint32_t NodeChange(const Node& old, const Node& now) {
  const berth_node& before = old.view();
  const berth_node& after = now.view();
  uint32_t actions = 0;
  if (!SameResources(*before.allocatable, *after.allocatable)) {
    actions |= BERTH_ACTION_UPDATE_NODE_ALLOCATABLE;
  }
  if (!SamePairs(before.meta->labels, after.meta->labels)) {
    actions |= BERTH_ACTION_UPDATE_NODE_LABEL;
  }
  const bool became_schedulable = before.unschedulable != 0 && after.unschedulable == 0;
  if (became_schedulable || !SameTaints(before.taints, after.taints)) {
    actions |= BERTH_ACTION_UPDATE_NODE_TAINT;
  }
  if (!SameConditions(before.conditions, after.conditions)) {
    actions |= BERTH_ACTION_UPDATE_NODE_CONDITION;
  }
  if (!SameAnnotations(before.meta->annotations, after.meta->annotations)) {
    actions |= BERTH_ACTION_UPDATE_NODE_ANNOTATION;
  }
  if (!SameIds(before.declared_features, after.declared_features)) {
    actions |= BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE;
  }
  return actions;
}

uint32_t PodChange(const Pod& old, const Pod& now) {
  const berth_pod& before = old.view();
  const berth_pod& after = now.view();
  uint32_t actions = 0;
  if (!SamePairs(before.meta->labels, after.meta->labels)) {
    actions |= BERTH_ACTION_UPDATE_POD_LABEL;
  }
  if (AnyShrank(*before.accounted, *after.accounted)) {
    actions |= BERTH_ACTION_UPDATE_POD_SCALE_DOWN;
  }
  if (before.tolerations.count != after.tolerations.count) {
    actions |= BERTH_ACTION_UPDATE_POD_TOLERATION;
  }
  if (before.scheduling_gates.count != 0 && after.scheduling_gates.count == 0) {
    actions |= BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED;
  }
  if (!SameClaims(before.resource_claims, after.resource_claims)) {
    actions |= BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM;
  }
  return actions != 0 ? actions : uint32_t{BERTH_ACTION_UPDATE};
}

}  // namespace berth::host
