#include "host/queue/object_change.h"

#include <algorithm>
#include <span>
#include <vector>

#include "host/api/requests.h"

namespace berth::host {
namespace {

template <class T, class Equal>
bool AllEqual(const berth_array& a, const berth_array& b, Equal equal) {
  const auto first = Elements<T>(a);
  const auto second = Elements<T>(b);
  return std::equal(first.begin(), first.end(), second.begin(), second.end(), equal);
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

bool SameAnnotations(const berth_array& a, const berth_array& b) {
  const auto same = [](const berth_str_pair& x, const berth_str_pair& y) {
    return Text(x.key) == Text(y.key) && Text(x.value) == Text(y.value);
  };
  if (AllEqual<berth_str_pair>(a, b, same)) return true;
  if (a.count != b.count) return false;
  // Annotations are not sorted: compare sorted copies, because another order is no change.
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

bool OnlyStatusChanged(const Pod& old, const Pod& now) {
  constexpr uint64_t kStatus = BERTH_PART(IDENTITY) | BERTH_PART(STATUS) | BERTH_PART(NOMINATION);
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((kStatus >> part & 1) == 0 && old.part_hash(part) != now.part_hash(part)) return false;
  }
  return true;
}

}  // namespace berth::host
