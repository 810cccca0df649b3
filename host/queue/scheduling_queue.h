// The scheduling queue. It holds every pod of this scheduler's profiles that has no node. Each pod
// is in exactly one place, alone or with its group.
//
//                    PreEnqueue rejects
//     Add ---------------------------------------> gated
//      |                                             | event for its plugin, update of the pod
//      v              Pop               Return       v
//   active ------------------> in flight -----> unschedulable ---- event, flush, Activate
//      ^                           |    \                                |
//      |                           |     `--> error backoff              v
//      +---- backoff <-------------+---------------------------------> backoff / active
//                       Return, after an event while in flight
//
// (kube-scheduler: pkg/scheduler/backend/queue/scheduling_queue.go)
#ifndef BERTH_HOST_QUEUE_SCHEDULING_QUEUE_H_
#define BERTH_HOST_QUEUE_SCHEDULING_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/queue/backoff.h"
#include "host/queue/entity_table.h"
#include "host/queue/event_matcher.h"
#include "host/queue/nominator.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_meter.h"
#include "host/queue/queue_places.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"
#include "host/queue/requeuer.h"

namespace berth::host {

// Decides where every entity is and when it moves. The parts are in four classes: EntityTable owns
// the entities, QueuePlaces has the data structure of each place, EventMatcher decides which
// entities an event requeues, and Requeuer decides which place a requeued entity enters.
//
// Threading: the scheduling thread.
// Lifetime:  policy, order and clock must outlive the queue.
// Must not:  be called by policy or order within their calls.
// Cost:      Add, Pop, Return: O(log size), with lanes also O(lanes); for a group O(its members).
//            OnEvent: one hint call per class of parked pods that are rejected by the same
//            registered plugins and equal in the parts that those plugins' hints depend on, plus
//            the pods that it moves. Other parked pods cost nothing.
class SchedulingQueue {
 public:
  struct Options {
    int64_t initial_backoff_ns = kSecond;
    int64_t max_backoff_ns = 10 * kSecond;  // 0 disables backoff.
    int64_t flush_after_ns = 5 * kMinute;   // The longest time that a pod is parked.
    bool pop_from_backoff = true;  // Pop() takes a pod from the backoff queue if none is active.
    // The number of events that are recorded for pods in flight. If there are more, a pod that
    // missed some is tried again when it is rejected.
    size_t max_logged_events = 10'000;
    // Treats the pods of one spec.schedulingGroup as one entity: the group is gated until
    // PreEnqueue accepts every member, and is popped, parked and backed off as a whole. An event
    // that helps one member requeues the group, and so does a member that is added or removed. A
    // pod that is being deleted belongs to no group. (KEP-4671)
    bool groups = false;
    // The version of kube-scheduler whose rules the queue follows.
    KubeVersion emulated_version = kNewestKubeVersion;
  };

  // `policy`, `order` and `clock` must outlive the queue.
  SchedulingQueue(QueuePolicy& policy, const QueueOrder& order, const Clock& clock,
                  Options options);
  SchedulingQueue(const SchedulingQueue&) = delete;
  SchedulingQueue& operator=(const SchedulingQueue&) = delete;

  // Sets the observer of the pods in the queue; null for none. Lifetime: until another observer is
  // set.
  void SetObserver(PendingObserver* observer) { observer_ = observer; }
  // Sets what counts the entities that enter a place; null for none. The meter must outlive the
  // queue.
  void SetMeter(QueueMeter* meter) {
    requeuer_.SetMeter(meter);
    matcher_.SetMeter(meter);
  }

  // ---- Events from the cluster ------------------------------------------------------------------

  // Adds a pod of this scheduler that has no node, and records the nomination in its status. After
  // PreEnqueue has run for it, the pod is also an UNSCHEDULED_POD Add event for the other pods. A
  // pod that is already in the queue is updated.
  void Add(PodRef pod);
  // Updates a pod, or adds it if it is not in the queue. For a parked pod, each event of the change
  // (PodChange) is offered to its rejectors as a TARGET_POD event; in flight, these events are
  // recorded for later. A change of the pod's status alone is no event. For a gated pod, PreEnqueue
  // runs again, whatever changed. For an active or backing-off pod, the position in its heap may
  // change.
  // If the change removes the pod's nomination, the queue applies an ASSIGNED_POD Delete event to
  // other pods of the same or a lower priority. If a nominated pod gets other labels or smaller
  // requests, it applies this change to them as an ASSIGNED_POD event.
  void Update(PodRef pod);
  // Removes a pod that was deleted, or that now has the node `node`. A nomination to another node
  // is removed as in Update(). A pod in flight is erased when its attempt ends, unless it is added
  // again before. Returns false if the pod is not in the queue.
  bool Remove(std::string_view uid, std::string_view node = {});
  // Requeues the parked pods that the event makes schedulable, and records the event for the pods
  // in flight. TARGET_POD and UNSCHEDULED_POD events are created by the queue itself.
  void OnEvent(const QueueEvent& event);
  // Applies the event only to entities for which `filter` holds, including those in flight.
  void OnEvent(const QueueEvent& event, const std::function<bool(const QueuedEntity&)>& filter);

  // ---- Called by scheduling and binding cycles --------------------------------------------------

  // Moves the first ready entity into flight and returns it; null if there is none. If QueueSort
  // has lanes, it selects the lane, once per call that finds an active entity. If no entity is
  // active, `pop_from_backoff` takes the first entity of the backoff queue, however long its
  // backoff still lasts.
  // Lifetime: until Return() or Done() for the pod, or ReturnGroup() for the group.
  const QueuedEntity* Pop();
  // Returns the entity of the pod, which is its group for a member of a group; null if the pod is
  // not in the queue. A single pod that was removed in flight is still found; a removed member of a
  // group is not. Lifetime: until the next call of a non-const method.
  const QueuedEntity* Find(std::string_view uid) const;
  // Returns the latest version of the pod; null if it is not in the queue.
  PodRef PodOf(std::string_view uid) const;
  // Ends an attempt that did not bind the pod. Without a rejection the pod goes to the error
  // backoff; otherwise the events since Pop() decide whether it goes to the backoff or active
  // queue, or is parked. A pod that was removed meanwhile is erased. A pod of a group returns to
  // its group, which is created if needed; the group is then tried again after the longer of both
  // backoffs. Returns false if the pod was erased.
  // `is_slow`: a plugin missed its deadline in the attempt, which counts as an error: no event
  // requeues the pod before its backoff ends. The rejection still says why it has no node.
  // REQUIRES: the pod is in flight and not a member of a group.
  bool Return(std::string_view uid, Rejection rejection, bool is_slow = false);
  // Ends the attempt of a group, as Return(), for the members that it still has. REQUIRES: the
  // group is in flight.
  void ReturnGroup(std::string_view name, Rejection rejection, bool is_slow = false);
  // Splits a member that has a node off its group; the pod stays in flight on its own. A group
  // without members is erased. REQUIRES: the pod is a member of a group in flight.
  void SplitFromGroup(std::string_view uid);
  // Stops recording events for the pod, which from now on does not depend on any event. If the pod
  // is rejected nevertheless, it is tried again after its backoff, because an event may have been
  // missed.
  // REQUIRES: the pod is in flight.
  void StopRecording(std::string_view uid);
  // Removes a pod that was bound or no longer belongs to this scheduler, and removes its
  // nomination. REQUIRES: the pod is in flight and not a member of a group.
  void Done(std::string_view uid);
  // Moves a parked or backing-off pod to the active queue, if PreEnqueue accepts it. For a pod in
  // flight, records an event that requeues it. Otherwise does nothing.
  void Activate(std::string_view uid);
  // Activates the parked and gated entities for which `filter` holds, in the order in which they
  // were parked. Returns false if PreEnqueue accepts none of them.
  bool ActivateParked(const EntityFilter& filter);
  // Nominates the pod to this node and no other; an empty `node` removes its nomination. Other pods
  // are requeued for a removed nomination as in Update().
  void Nominate(const PodRef& pod, std::string_view node);
  // Records the condition that is reported for this generation of the pod. Returns false if it
  // equals the one recorded last. REQUIRES: the pod is in the queue.
  bool RecordReported(std::string_view uid, std::string_view reason, std::string_view message,
                      int64_t generation);
  // Clears the recorded condition, because reporting it may have failed. The pod need not be in the
  // queue any more.
  void ClearReported(std::string_view uid);

  // ---- Time -------------------------------------------------------------------------------------

  // Moves the pods whose backoff is over to the active queue. Backoffs end at whole seconds. Every
  // 30 s, pods that have been parked for longer than flush_after_ns are tried again; for gated
  // pods, PreEnqueue runs again.
  void Tick();
  // Returns when Tick() next has something to do; none if it has nothing to do until the queue
  // changes.
  std::optional<int64_t> NextTickNs() const;

  // ---- Policy, groups and queries ---------------------------------------------------------------

  // Rebuilds the heaps and the index after the plugins or the order changed. No entity changes its
  // place.
  void PolicyChanged();
  // Changes Options::groups. Pods that enter or leave a group are added anew. Pods in flight stay
  // single until they return.
  void SetGroups(bool groups);
  // Runs PreEnqueue for all waiting pods. Pods that were rejected, and pods in flight that will be,
  // are tried again after their backoff.
  void RequeueAll();
  Nominator& nominator() { return nominator_; }
  const Nominator& nominator() const { return nominator_; }

  // Returns whether Pop() would return an entity.
  bool has_ready() const;
  // Returns the number of pods in all places.
  size_t size() const { return entities_.pod_count(); }
  // Returns the number of entities in the place.
  size_t CountIn(QueuePlace place) const { return places_.CountIn(place); }
  // Returns the pods for which a plugin missed its deadline in their last attempt.
  // Lifetime: that of the queue. Threading: see SlowPods.
  const SlowPods& slow_pods() const { return entities_.slow_pods(); }
  // Calls `each` for every entity, in no particular order.
  void ForEach(const std::function<void(const QueuedEntity&)>& each) const;
  // Asserts that every entity is in exactly the place that it records, and that all indexes agree.
  // For tests; costs O(size).
  void CheckInvariants() const;

 private:
  QueueEntry& EntryInFlight(std::string_view uid) const;
  QueueEntry& PodInFlight(std::string_view uid) const;
  void Create(PodRef pod);
  // Implements Remove() without a call of the observer.
  void RemoveEntry(QueueEntry& entry, std::string_view uid, std::string_view node);
  void Erase(QueueEntry& entry);
  // Sets the fields that order entities by the time at which they entered the queue.
  void SetQueuedNow(QueueEntry& entry);

  // Returns "<namespace>/<name>" of the pod's group; empty if it belongs to no group.
  std::string GroupNameOf(const Pod& pod) const;
  void ReturnToGroup(QueueEntry& entry, Requeueing how);
  void RemoveFromGroup(QueueEntry& group, std::string_view uid);
  // Calls `change`, which adds or removes members, and requeues the group. `when_ready` selects how
  // a group that is active is requeued.
  void ChangeMembers(QueueEntry& group, const std::function<void()>& change,
                     Requeueing when_ready = Requeueing::kImmediately);

  // Returns the entity that is to be tried now, which the caller must move into flight; null if
  // there is none.
  QueueEntry* NextReady();
  // Updates the entry's queue data at the end of an attempt. Returns how to requeue it.
  Requeueing EndAttempt(QueueEntry& entry, Rejection rejection, bool is_slow);

  // Records the event for the entities in flight and requeues the parked entities that it helps, as
  // far as the filters hold for them.
  void ApplyEvent(const QueueEvent& event, const EntityFilter* parked,
                  const EntityFilter* in_flight);
  void ApplyPodAdded(const PodRef& pod);
  void ApplyNominationEvent(const PodRef& nominated, const QueueEvent& event);
  // Requeues pods for which new labels or smaller requests of a nominated pod may make room.
  void OnNominatedPodChanged(const PodRef& old, const PodRef& pod, std::string_view node);
  // Requeues pods that were waiting for the room of the removed nomination.
  void OnNominationRemoved(const PodRef& pod, std::string_view node);
  void OnMemberNominationRemoved(const PodRef& pod);

  // Tries entries again that have been parked for too long.
  void Flush(int64_t now_ns);
  void CheckEntry(const QueueEntry& entry) const;

  QueuePolicy& policy_;
  const Clock& clock_;
  const Options options_;
  const Backoff backoff_;
  bool has_groups_;
  InterestTable interests_;
  EntityTable entities_;  // A group without members is in flight.
  QueuePlaces places_;
  EventMatcher matcher_;
  Requeuer requeuer_;
  Nominator nominator_;
  FlushSchedule flushes_;
  uint64_t sequence_ = 0;
  PendingObserver* observer_ = nullptr;
  // Used within ApplyEvent(); a member so that its memory is reused; empty between calls.
  std::vector<ParkedIndex::RequeuedEntry> requeued_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_SCHEDULING_QUEUE_H_
