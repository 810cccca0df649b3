// What events do to pods that wait.
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

// Asks the hint of an interest about the event: of a group for each member, until one says yes;
// what happened to a pod itself is asked for that pod alone.
auto AskAbout(QueuePolicy& policy, const QueueEvent& event) {
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

void SchedulingQueue::OnEvent(const QueueEvent& event) { Offer(event, nullptr); }

void SchedulingQueue::OnEvent(const QueueEvent& event,
                              const std::function<bool(const QueuedEntity&)>& which) {
  Offer(event, &which);
}

void SchedulingQueue::Offer(const QueueEvent& event, const EntityFilter* which) {
  Offer(event, which, which);
}

void SchedulingQueue::Offer(const QueueEvent& event, const EntityFilter* which,
                            const EntityFilter* in_flight) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) {
    OfferToAll(event, which);
  } else {
    interests_.Find(event, matching_);
    if (matching_.empty()) return;
    log_.Append(event, BitsOf(matching_), in_flight);
    parked_.Offer(matching_, which, AskAbout(policy_, event), helped_);
    matching_.clear();
  }
  for (const auto& [entry, how] : helped_) Requeue(*entry, how);
  helped_.clear();
}

void SchedulingQueue::OfferToAll(const QueueEvent& event, const EntityFilter* which) {
  const Pod* only = OnlyFor(event);
  const EntityFilter is_meant = [only, which](const QueuedEntity& entity) {
    return (only == nullptr || entity.Has(only->uid())) && (which == nullptr || (*which)(entity));
  };
  log_.Append(event, kAllPlugins, &is_meant);
  for (QueueEntry* entry = parked_.entries().front(); entry != nullptr; entry = entry->next) {
    if (is_meant(entry->entity)) helped_.push_back({entry, Requeueing::kAfterBackoff});
  }
}

Requeueing SchedulingQueue::JudgeEvent(const QueuedEntity& entity, const QueueEvent& event) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) return Requeueing::kAfterBackoff;
  interests_.Find(event, matching_);
  const Requeueing how = Judge(entity.rejection, matching_, entity, AskAbout(policy_, event));
  matching_.clear();
  return how;
}

// An error has nothing to wait for, and who has missed events may have missed the one that helps.
// (kube-scheduler: scheduling_queue.go, determineSchedulingHintForInFlightPod)
Requeueing SchedulingQueue::JudgeFlight(const QueueEntry& entry) {
  const QueuedEntity& entity = entry.entity;
  if (entity.rejection.empty() || !entry.is_recording) return Requeueing::kAfterBackoff;
  Requeueing how = Requeueing::kSkip;
  log_.Replay(entry, BitsOf(entity.rejection), [&](const QueueEvent& event) {
    how = std::max(how, JudgeEvent(entity, event));
    return how == Requeueing::kSkip ||
           (how == Requeueing::kAfterBackoff && !entity.rejection.pending.empty());
  });
  return how;
}

// The pod itself has changed: one event after the other, until one helps. In flight they are kept.
void SchedulingQueue::OfferChange(QueueEntry& entry, const PodRef& old, const PodRef& pod) {
  const uint32_t change = PodChange(*old, *pod);
  // Upstream offers this too, and tries a pod once more for having said that it was refused.
  if (change == BERTH_ACTION_UPDATE && ChangedInStatusAlone(*old, *pod)) return;
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
    const Requeueing how = JudgeEvent(entry.entity, event);
    if (how == Requeueing::kSkip) continue;
    return Requeue(entry, how);
  }
}

// What waits for a pod like this, as the members of a group do for each other, hears of it.
// (kube-scheduler: scheduling_queue.go, Add, with the gate GangScheduling)
void SchedulingQueue::OfferArrival(const PodRef& pod) {
  if (!interests_.HasAny(BERTH_RESOURCE_UNSCHEDULED_POD)) return;  // Nearly always.
  const EntityFilter is_another = [&pod](const QueuedEntity& entity) {
    return !entity.Has(pod->uid());
  };
  Offer({.resource = BERTH_RESOURCE_UNSCHEDULED_POD,
         .action = BERTH_ACTION_ADD,
         .before = PodRef(),
         .after = pod},
        &is_another, nullptr);  // It is not in flight.
}

void SchedulingQueue::Nominate(const PodRef& pod, std::string_view node) {
  const std::string before(nominator_.NodeOf(pod->uid()));
  nominator_.Add(pod, node);
  if (!before.empty() && before != node) OnNominationGone(pod, before);
}

// To pods of the same or a lower priority, which counted with it, it is as if an assigned pod were
// gone: it is shown as one that was nominated, whether or not its status had said so yet. Its own
// place is no news to itself, but to its group.
void SchedulingQueue::OnNominationGone(const PodRef& pod, std::string_view node) {
  const bool is_told = pod->nominated_node() == node;
  PodStatusPatch patch;
  patch.nominated_node = node;
  PodRef nominated = is_told ? pod : WithStatus(pod, patch, pod->resource_version());
  const int32_t priority = pod->view().priority;
  const EntityFilter is_lower = [priority, &pod](const QueuedEntity& entity) {
    return !entity.Has(pod->uid()) && entity.AnyPod([priority](const PodRef& other) {
      return other->view().priority <= priority;
    });
  };
  Offer({.resource = BERTH_RESOURCE_ASSIGNED_POD,
         .action = BERTH_ACTION_DELETE,
         .before = std::move(nominated),
         .after = PodRef()},
        &is_lower);
  OnRoomLost(pod);
}

}  // namespace berth::host
