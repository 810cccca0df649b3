// Decides which entities of the scheduling queue an event requeues.
#ifndef BERTH_HOST_QUEUE_EVENT_MATCHER_H_
#define BERTH_HOST_QUEUE_EVENT_MATCHER_H_

#include <vector>

#include "host/api/objects.h"
#include "host/queue/event_log.h"
#include "host/queue/parked_index.h"
#include "host/queue/queue_entry.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_meter.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// An event requeues an entity if a plugin that rejected the entity registered for the event and the
// hint of that interest, if there is one, returns true for a pod of the entity. Events are recorded
// for entities in flight, which may be rejected later. A WILDCARD event requeues every entity, or
// the one of the pod that it is limited to. The class decides; it moves no entity.
//
// Threading: the scheduling thread.
// Lifetime:  all arguments of the constructor must outlive the matcher.
// Must not:  be called by the policy within Hint().
class EventMatcher {
 public:
  EventMatcher(QueuePolicy& policy, const InterestTable& interests, ParkedIndex& parked,
               EventLog& log)
      : policy_(policy), interests_(interests), parked_(parked), log_(log) {}
  EventMatcher(const EventMatcher&) = delete;
  EventMatcher& operator=(const EventMatcher&) = delete;

  // Sets the meter that observes the hints and the log. If it is null, nothing is observed.
  // Lifetime: the meter must outlive the matcher.
  // Called: before any entity records.
  void SetMeter(QueueMeter* meter) {
    meter_ = meter;
    log_.SetMeter(meter);
  }

  // Appends the parked entities that the event requeues to `requeued`, and records the event for
  // the entities in flight. Considers only parked entities for which `parked` holds and entities in
  // flight for which `in_flight` holds, where these filters are given.
  void Apply(const QueueEvent& event, const EntityFilter* parked, const EntityFilter* in_flight,
             std::vector<ParkedIndex::RequeuedEntry>& requeued);
  // Records the event for this entity alone. Does nothing if no plugin registered for the event or
  // the entity is not recording.
  void RecordFor(const QueueEntry& entry, const QueueEvent& event);
  // Applies each event of a change of the entity's own pod, as a TARGET_POD event, until one
  // requeues the entity. Returns how to requeue it; kSkip if no event does. For an entity in
  // flight, records all these events and returns kSkip. A change of the pod's status alone is no
  // event.
  Requeueing ApplyPodChange(const QueueEntry& entry, const PodRef& old, const PodRef& pod);
  // Returns how to requeue an entity whose attempt has ended with entity.rejection(), by the events
  // that were recorded for it.
  // (kube-scheduler: scheduling_queue.go, determineSchedulingHintForInFlightPod)
  Requeueing DecideAfterAttempt(const QueueEntry& entry);

 private:
  // Returns the interests that match the event. Lifetime: until the next call.
  const std::vector<const Interest*>& InterestsIn(const QueueEvent& event);
  void ApplyWildcard(const QueueEvent& event, const EntityFilter* parked,
                     const EntityFilter* in_flight,
                     std::vector<ParkedIndex::RequeuedEntry>& requeued);
  Requeueing Decide(const QueuedEntity& entity, const QueueEvent& event);

  QueuePolicy& policy_;
  const InterestTable& interests_;
  ParkedIndex& parked_;
  EventLog& log_;
  QueueMeter* meter_ = nullptr;
  std::vector<const Interest*> matching_;  // Of InterestsIn(); a member to reuse its memory.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_EVENT_MATCHER_H_
