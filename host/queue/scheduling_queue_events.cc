// The part of SchedulingQueue that applies events to waiting pods.
#include <algorithm>
#include <string>
#include <utility>

#include "host/queue/object_change.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {
namespace {

berth_tagged Tag(const AnyObject& object) {
  if (const auto* pod = std::get_if<PodRef>(&object); pod != nullptr && *pod != nullptr) {
    return {BERTH_KIND_POD, 0, &(*pod)->view()};
  }
  if (const auto* node = std::get_if<NodeRef>(&object); node != nullptr && *node != nullptr) {
    return {BERTH_KIND_NODE, 0, &(*node)->view()};
  }
  if (const auto* other = std::get_if<ObjectRef>(&object); other != nullptr && *other != nullptr) {
    return {BERTH_KIND_OBJECT, 0, &(*other)->view()};
  }
  return {0, 0, nullptr};
}

PluginBits BitsOf(const std::vector<const Interest*>& interests) {
  PluginBits bits = 0;
  for (const Interest* interest : interests) bits |= BitOf(interest->plugin);
  return bits;
}

// Returns a function that calls an interest's hint for the event. For a group it calls the hint for
// each member until one returns true. A TARGET_POD event is passed only for the pod itself.
auto MakeHintFunction(QueuePolicy& policy, const QueueEvent& event) {
  const PodRef* target =
      event.resource == BERTH_RESOURCE_TARGET_POD ? std::get_if<PodRef>(&event.after) : nullptr;
  berth_event seen{.struct_size = sizeof(berth_event),
                   .resource = event.resource,
                   .actions = event.action,
                   .interest = 0,
                   .before = Tag(event.before),
                   .after = Tag(event.after)};
  return [&policy, seen, target](const Interest& interest, const QueuedEntity& entity) mutable {
    seen.interest = interest.index;
    return entity.AnyPod([&](const PodRef& pod) {
      return (target == nullptr || pod->uid() == (*target)->uid()) &&
             policy.Hint(interest, entity.ViewOf(pod), seen);
    });
  };
}

}  // namespace

void SchedulingQueue::OnEvent(const QueueEvent& event) { ApplyEvent(event, nullptr); }

void SchedulingQueue::OnEvent(const QueueEvent& event,
                              const std::function<bool(const QueuedEntity&)>& filter) {
  ApplyEvent(event, &filter);
}

void SchedulingQueue::ApplyEvent(const QueueEvent& event, const EntityFilter* filter) {
  ApplyEvent(event, filter, filter);
}

void SchedulingQueue::ApplyEvent(const QueueEvent& event, const EntityFilter* filter,
                                 const EntityFilter* in_flight) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) {
    ApplyWildcardEvent(event, filter);
  } else {
    interests_.Find(event, matching_);
    if (matching_.empty()) return;
    log_.Append(event, BitsOf(matching_), in_flight);
    parked_.SelectForRequeue(matching_, filter, MakeHintFunction(policy_, event), requeued_);
    matching_.clear();
  }
  for (const auto& [entry, how] : requeued_) Requeue(*entry, how);
  requeued_.clear();
}

void SchedulingQueue::ApplyWildcardEvent(const QueueEvent& event, const EntityFilter* filter) {
  const Pod* only = OnlyPodOf(event);
  const EntityFilter matches = [only, filter](const QueuedEntity& entity) {
    return (only == nullptr || entity.Has(only->uid())) && (filter == nullptr || (*filter)(entity));
  };
  log_.Append(event, kAllPlugins, &matches);
  for (QueueEntry* entry = parked_.entries().front(); entry != nullptr; entry = entry->next) {
    if (matches(entry->entity)) requeued_.push_back({entry, Requeueing::kAfterBackoff});
  }
}

Requeueing SchedulingQueue::DecideForEvent(const QueuedEntity& entity, const QueueEvent& event) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) return Requeueing::kAfterBackoff;
  interests_.Find(event, matching_);
  const Requeueing how =
      DecideRequeueing(entity.rejection, matching_, entity, MakeHintFunction(policy_, event));
  matching_.clear();
  return how;
}

// After an error there is no event to wait for. A pod for which events were dropped may have missed
// the one that makes it schedulable.
// (kube-scheduler: scheduling_queue.go, determineSchedulingHintForInFlightPod)
Requeueing SchedulingQueue::DecideAfterAttempt(const QueueEntry& entry) {
  const QueuedEntity& entity = entry.entity;
  if (entity.rejection.empty() || !entry.is_recording) return Requeueing::kAfterBackoff;
  Requeueing how = Requeueing::kSkip;
  log_.Replay(entry, BitsOf(entity.rejection), [&](const QueueEvent& event) {
    how = std::max(how, DecideForEvent(entity, event));
    return how == Requeueing::kSkip ||
           (how == Requeueing::kAfterBackoff && !entity.rejection.pending.empty());
  });
  return how;
}

// Applies the events of the pod's own change one after the other until one requeues it. For a pod
// in flight, all of them are recorded.
void SchedulingQueue::ApplyPodChange(QueueEntry& entry, const PodRef& old, const PodRef& pod) {
  const uint32_t change = PodChange(*old, *pod);
  // kube-scheduler treats this as an event too, and so retries a pod because its own Unschedulable
  // condition was written.
  if (change == BERTH_ACTION_UPDATE && OnlyStatusChanged(*old, *pod)) return;
  for (uint32_t left = change; left != 0;) {
    const uint32_t action = change == BERTH_ACTION_UPDATE ? change : left & (~left + 1);
    left &= ~action;
    const QueueEvent event{
        .resource = BERTH_RESOURCE_TARGET_POD, .action = action, .before = old, .after = pod};
    if (entry.entity.place == QueuePlace::kInFlight) {
      interests_.Find(event, matching_);
      if (!matching_.empty()) log_.AppendFor(entry, event, BitsOf(matching_));
      matching_.clear();
      continue;
    }
    const Requeueing how = DecideForEvent(entry.entity, event);
    if (how == Requeueing::kSkip) continue;
    return Requeue(entry, how);
  }
}

// Applies the arrival of a pod as an event: the members of a group, for example, wait for each
// other.
// (kube-scheduler: scheduling_queue.go, Add, with the gate GangScheduling)
void SchedulingQueue::ApplyPodAdded(const PodRef& pod) {
  if (!interests_.HasAny(BERTH_RESOURCE_UNSCHEDULED_POD)) return;  // The usual case.
  const EntityFilter is_another = [&pod](const QueuedEntity& entity) {
    return !entity.Has(pod->uid());
  };
  ApplyEvent({.resource = BERTH_RESOURCE_UNSCHEDULED_POD,
              .action = BERTH_ACTION_ADD,
              .before = PodRef(),
              .after = pod},
             &is_another, nullptr);  // No filter in flight: the new pod is not in flight.
}

void SchedulingQueue::Nominate(const PodRef& pod, std::string_view node) {
  const std::string before(nominator_.NodeOf(pod->uid()));
  nominator_.Add(pod, node);
  if (!before.empty() && before != node) OnNominationRemoved(pod, before);
}

// For pods of the same or a lower priority, whose attempts counted with the nominated pod, a
// removed nomination is like the deletion of an assigned pod. The event shows the pod with the
// nomination in its status, whether or not the status ever had it. The pod itself does not get the
// event; its group is requeued separately.
void SchedulingQueue::OnNominationRemoved(const PodRef& pod, std::string_view node) {
  const bool is_in_status = pod->nominated_node() == node;
  PodStatusPatch patch;
  patch.nominated_node = node;
  PodRef nominated = is_in_status ? pod : WithStatus(pod, patch, pod->resource_version());
  const int32_t priority = pod->view().priority;
  const EntityFilter is_lower = [priority, &pod](const QueuedEntity& entity) {
    return !entity.Has(pod->uid()) && entity.AnyPod([priority](const PodRef& other) {
      return other->view().priority <= priority;
    });
  };
  ApplyEvent({.resource = BERTH_RESOURCE_ASSIGNED_POD,
              .action = BERTH_ACTION_DELETE,
              .before = std::move(nominated),
              .after = PodRef()},
             &is_lower);
  OnMemberNominationRemoved(pod);
}

}  // namespace berth::host
