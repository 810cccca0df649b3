#include "hints.h"

#include <algorithm>

#include <berth/selectors.h>
#include <berth/services.h>
#include <berth/value.h>

#include "default_selectors.h"

namespace spread {
namespace {

using List = std::vector<Constraint>;

bool MatchesAny(const List& constraints, const berth::Pod& pod, const berth::Host& host) {
  return std::any_of(constraints.begin(), constraints.end(), [&](const Constraint& each) {
    return berth::Matches(each.selector, pod.labels(), host);
  });
}

// Returns whether one of the pods matches a constraint's selector and the other does not.
bool FlipsAny(const List& constraints, const berth::Pod& a, const berth::Pod& b,
              const berth::Host& host) {
  return std::any_of(constraints.begin(), constraints.end(), [&](const Constraint& each) {
    return berth::Matches(each.selector, a.labels(), host) !=
           berth::Matches(each.selector, b.labels(), host);
  });
}

bool Differ(const berth::Pod& a, const berth::Pod& b, uint32_t part) {
  return a.PartHash(part) != b.PartHash(part);
}

// Returns whether the pod ceases to count because it is being deleted from now on. kube-scheduler
// has no event for this and waits until the pod is gone.
bool Terminates(const berth_pod& before, const berth_pod& after) {
  return before.meta->deleted_ns == 0 && after.meta->deleted_ns != 0;
}

bool PodHelps(const berth::Pod& pod, const Constraints& hard, const berth::Event& event,
              const berth::Host& host) {
  const berth_pod* const before = berth::PodIn(event.before);
  const berth_pod* const after = berth::PodIn(event.after);
  const bool own = event.resource == BERTH_RESOURCE_TARGET_POD;
  for (const berth_pod* const each : {before, after}) {
    if (each != nullptr && !own && each->meta->ns != pod.ns()) return false;
  }
  if (before == nullptr || after == nullptr) {
    const berth_pod* const only = before != nullptr ? before : after;
    return only == nullptr || MatchesAny(hard.list, *only, host);
  }
  if (own && hard.HonorTaints() && Differ(*before, *after, BERTH_PART_TOLERATIONS)) return true;
  if (Terminates(*before, *after)) return MatchesAny(hard.list, *before, host);
  return FlipsAny(hard.list, *before, *after, host);
}

bool HasEqualValues(const List& constraints, berth::Labels a, berth::Labels b) {
  return std::all_of(constraints.begin(), constraints.end(), [a, b](const Constraint& each) {
    return berth::FindLabel(a, each.key) == berth::FindLabel(b, each.key);
  });
}

bool HasEqualTaints(const berth::NodeView& a, const berth::NodeView& b) {
  const auto left = a.taints();
  const auto right = b.taints();
  return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(),
                                                   [](const berth_taint& x, const berth_taint& y) {
                                                     return x.key == y.key && x.value == y.value &&
                                                            x.effect == y.effect;
                                                   });
}

// Returns whether a change of a node that has all keys changes whether its pods count. A node that
// nodeAffinityPolicy excludes from now on may have been the domain with the fewest pods;
// kube-scheduler misses this case.
bool SelectionFlips(const berth::Pod& pod, const Constraints& hard, const berth_node& a,
                    const berth_node& b, const berth::Host& host) {
  return hard.HonorAffinity() &&
         berth::MatchesNodeSelection(pod, a, host) != berth::MatchesNodeSelection(pod, b, host);
}

bool NodeHelps(const berth::Pod& pod, const Constraints& hard, const berth::Event& event,
               const berth::Host& host) {
  const berth_node* const before = berth::NodeIn(event.before);
  const berth_node* const after = berth::NodeIn(event.after);
  const bool had_all =
      before != nullptr && HasAllKeys(berth::NodeView(*before).labels(), hard.list);
  const bool has_all = after != nullptr && HasAllKeys(berth::NodeView(*after).labels(), hard.list);
  if (before == nullptr || after == nullptr) return had_all || has_all;
  if (had_all != has_all) return true;
  if (!has_all) return false;
  const berth::NodeView then(*before);
  const berth::NodeView now(*after);
  return !HasEqualValues(hard.list, then.labels(), now.labels()) || !HasEqualTaints(then, now) ||
         SelectionFlips(pod, hard, *before, *after, host);
}

// Returns the selector of a Service or controller; absent if there is no object.
berth::Value SelectorIn(const berth_object* object) {
  return berth::ValueOf(object)["spec"]["selector"];
}

bool Selects(const berth_object* service, const berth::Pod& pod, const berth::Host& host) {
  const berth::Selector selector = host.selectors().FromMap(SelectorIn(service));
  return selector.ok() && berth::Matches(selector.get(), pod.labels(), host);
}

}  // namespace

std::vector<berth::EventInterest> Interests(bool has_hard_defaults) {
  // The parts that determine the constraints: default constraints depend on labels and owners.
  constexpr uint64_t kParts = BERTH_PART(NAMESPACE) | BERTH_PART(LABELS) | BERTH_PART(OWNERS) |
                              BERTH_PART(SPREAD) | BERTH_PART(NODE_SELECTION);
  constexpr uint32_t kAnyChange = BERTH_ACTION_ADD | BERTH_ACTION_DELETE | BERTH_ACTION_UPDATE;
  std::vector<berth::EventInterest> interests = {
      {.resource = BERTH_RESOURCE_POD_ANY, .actions = kAnyChange, .pod_parts = kParts},
      {.resource = BERTH_RESOURCE_NODE,
       .actions = BERTH_ACTION_ADD | BERTH_ACTION_DELETE | BERTH_ACTION_UPDATE_NODE_LABEL |
                  BERTH_ACTION_UPDATE_NODE_TAINT,
       .pod_parts = kParts}};
  if (!has_hard_defaults) return interests;
  for (const char* kind : {kServices, kReplicationControllers, kReplicaSets, kStatefulSets}) {
    interests.push_back({.resource = BERTH_RESOURCE_CUSTOM,
                         .actions = kAnyChange,
                         .kind = kind,
                         .pod_parts = kParts});
  }
  return interests;
}

bool ObjectHelps(const berth::Pod& pod, const berth::Event& event, const berth::Host& host) {
  if (!pod.spreads().empty()) return false;  // It has no default constraints.
  const berth_object* const before = berth::ObjectIn(event.before);
  const berth_object* const after = berth::ObjectIn(event.after);
  const berth_object& object = after != nullptr ? *after : *before;
  if (object.meta->ns != pod.ns()) return false;
  if (SelectorIn(before).ToJson() == SelectorIn(after).ToJson()) return false;
  if (host.Text(object.kind) == kServices) {
    return Selects(before, pod, host) || Selects(after, pod, host);
  }
  const auto owners = pod.owners();
  return std::any_of(owners.begin(), owners.end(), [&object](const berth_owner& owner) {
    return owner.controller != 0 && berth::Str(owner.name) == berth::Str(object.meta->name);
  });
}

bool MayHelp(const berth::Event& event) {
  const berth_pod* const before = berth::PodIn(event.before);
  const berth_pod* const after = berth::PodIn(event.after);
  if (before == nullptr || after == nullptr) return true;
  return Terminates(*before, *after) || Differ(*before, *after, BERTH_PART_LABELS) ||
         (event.resource == BERTH_RESOURCE_TARGET_POD &&
          Differ(*before, *after, BERTH_PART_TOLERATIONS));
}

bool Helps(const berth::Pod& pod, const Constraints& hard, const berth::Event& event,
           const berth::Host& host) {
  if (!hard.valid) return true;
  if (event.resource == BERTH_RESOURCE_NODE) return NodeHelps(pod, hard, event, host);
  return PodHelps(pod, hard, event, host);
}

}  // namespace spread
