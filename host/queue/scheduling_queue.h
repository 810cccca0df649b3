// The scheduling queue: every pod of ours that has no node, in exactly one place, by itself or with
// its group.
//
//                    PreEnqueue says no
//     Add ---------------------------------------> gated
//      |                                             | its plugin's event, its own update
//      v              Pop               Return       v
//   active ------------------> in flight -----> unschedulable ---- event, flush, Activate
//      ^                           |    \                                |
//      |                           |     `--> error backoff              v
//      +---- backoff <-------------+---------------------------------> backoff / active
//                       Return, an event came meanwhile
//
// (kube-scheduler: pkg/scheduler/backend/queue/scheduling_queue.go)
#ifndef BERTH_HOST_QUEUE_SCHEDULING_QUEUE_H_
#define BERTH_HOST_QUEUE_SCHEDULING_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "host/api/objects.h"
#include "host/base/string_map.h"
#include "host/queue/backoff.h"
#include "host/queue/entity_heap.h"
#include "host/queue/event_log.h"
#include "host/queue/interest_table.h"
#include "host/queue/nominator.h"
#include "host/queue/parked_index.h"
#include "host/queue/queue_entry.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_order.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// Threading: the scheduling thread.
// Lifetime:  policy and order must outlive it.
// Must not:  be called by policy or order within their calls.
// Cost:      Add, Pop, Return: O(log size); of a group O(its members). OnEvent: what the plugins
//            that registered for the event rejected, counted in classes of pods that are equal in
//            what those plugins look at, and the pods that it moves. Not what else is parked.
class SchedulingQueue {
 public:
  struct Options {
    int64_t initial_backoff_ns = 1'000'000'000;
    int64_t max_backoff_ns = 10'000'000'000;            // 0: no backoff at all.
    int64_t flush_after_ns = int64_t{300'000'000'000};  // How long a pod is parked at most.
    bool pop_from_backoff = true;  // An idle scheduler does not wait for a backoff to end.
    // Events kept for pods in flight. Beyond, the pods that have missed some are tried again.
    size_t max_logged_events = 10'000;
    // Pods of one spec.schedulingGroup are one entity: gated until PreEnqueue lets every member
    // pass, popped, parked and backing off together. An event helps them that helps one of them.
    // When members come or go, it is tried again. One that is being deleted is in no group.
    // (KEP-4671)
    bool groups = false;
  };

  // `now_ns`: since 1970-01-01T00:00:00Z; must never go back.
  SchedulingQueue(QueuePolicy& policy, const QueueOrder& order, std::function<int64_t()> now_ns,
                  Options options);
  ~SchedulingQueue();
  SchedulingQueue(const SchedulingQueue&) = delete;
  SchedulingQueue& operator=(const SchedulingQueue&) = delete;

  // ---- What the cluster says --------------------------------------------------------------------

  // A pod without a node that is ours; what its status nominates it to is noted. When PreEnqueue
  // has been asked about it, the others are offered its Add as an UNSCHEDULED_POD. One that is here
  // already is updated.
  void Add(PodRef pod);
  // The pod changed; one that is nowhere is added. Where it is parked, each event that the change
  // is (PodChange) is offered to its rejectors as a TARGET_POD event; in flight, it is kept for
  // later; a change of its status alone is none. Gated, PreEnqueue is asked again whatever the
  // change is; elsewhere its turn may change.
  // A nomination that was taken away frees its node: a Delete of an ASSIGNED_POD for other pods of
  // the same or a lower priority.
  void Update(PodRef pod);
  // It is gone, or has a node, `node`; where else it was nominated, that is free, as in Update().
  // In flight, it is forgotten when its attempt ends, unless it comes again before. False: not
  // here.
  bool Remove(std::string_view uid, std::string_view node = {});
  // Offers the event to what is parked, and keeps it for what is in flight. Those of TARGET_POD and
  // UNSCHEDULED_POD are the queue's own.
  void OnEvent(const QueueEvent& event);
  // The same for pods for which `which` holds, those in flight included.
  void OnEvent(const QueueEvent& event, const std::function<bool(const QueuedEntity&)>& which);

  // ---- What cycles do ---------------------------------------------------------------------------

  // The first that is ready, now in flight; null: there is none. With `pop_from_backoff` the head
  // of the backoff queue, whatever time it has left, when nothing is active.
  // Lifetime: until Return() or Done() for it.
  const QueuedEntity* Pop();
  // Null: not here; one that was removed in flight still is, but for a member of a group. Of a
  // member its group. Lifetime: until the next call of anything that is not const.
  const QueuedEntity* Find(std::string_view uid) const;
  // As the cluster last said it is; null: not here.
  PodRef PodOf(std::string_view uid) const;
  // The attempt ended without a node. To the error backoff without a rejection; otherwise what
  // happened since Pop() decides: backoff, active, or parked. A pod that was removed meanwhile is
  // dropped. False: it was dropped. One of a group founds it anew, or joins it, which is then tried
  // again after the longer of both backoffs. REQUIRES: a pod in flight, by itself.
  bool Return(std::string_view uid, Rejection rejection);
  // The same for a group, with the members that it has left. REQUIRES: in flight.
  void ReturnGroup(std::string_view name, Rejection rejection);
  // The member has a node: it goes on in flight, by itself. Without members there is no group.
  // REQUIRES: a member of a group in flight.
  void TakeFromGroup(std::string_view uid);
  // It waits for nothing any more that an event could help: keeps no more events for it. Should it
  // be rejected all the same, it is tried again after its backoff: it may have missed something.
  // REQUIRES: in flight.
  void StopRecording(std::string_view uid);
  // It is bound, or nobody's business any more; nor is it nominated. REQUIRES: a pod in flight, by
  // itself.
  void Done(std::string_view uid);
  // Parked or backing off: to the active queue, if PreEnqueue allows. In flight: as if an event
  // had come that helps it. Otherwise nothing.
  void Activate(std::string_view uid);
  // Room is kept for the pod on this node and no other; empty: on none. What is given up is free,
  // as in Update().
  void Nominate(const PodRef& pod, std::string_view node);
  // Remembers what the pod's condition is told, of which generation of the pod. False: the same as
  // last time. REQUIRES: it is here.
  bool NoteReported(std::string_view uid, std::string_view reason, std::string_view message,
                    int64_t generation);
  // It may not have been told. It may not be here any more.
  void ForgetReported(std::string_view uid);

  // ---- Time -------------------------------------------------------------------------------------

  // Moves what has waited long enough. Backoffs end at whole seconds; every 30 s pods that have
  // been parked for longer than flush_after_ns are tried again, gated ones asked again.
  void Tick();
  // When Tick() next has something to do; none: while nothing changes, never.
  std::optional<int64_t> NextTickNs() const;

  // ---- The rest ---------------------------------------------------------------------------------

  // Other plugins, or another order: the heaps and the index are built anew. Nobody changes place.
  void PolicyChanged();
  // As Options::groups. Who gets into a group, or out of one, begins anew; in flight they stay by
  // themselves until they come back.
  void SetGroups(bool groups);
  // PreEnqueue is asked about all that wait; what was rejected, or is in flight and will be, is
  // tried again after its backoff.
  void TryAllAgain();
  Nominator& nominator() { return nominator_; }
  const Nominator& nominator() const { return nominator_; }

  bool has_ready() const;                  // Pop() would return one.
  size_t size() const;                     // Pods, everywhere.
  size_t CountIn(QueuePlace place) const;  // Entities.
  // In no order.
  void ForEach(const std::function<void(const QueuedEntity&)>& each) const;
  // Asserts that every entity is in exactly the one place that it says, and that every index
  // agrees. For tests; costs O(size).
  void CheckInvariants() const;

 private:
  // Pods are found by their uid, groups by their name.
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const;
    size_t operator()(const std::unique_ptr<QueueEntry>& entry) const;
  };
  struct KeyEqual {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return KeyOf(a) == KeyOf(b);
    }
  };
  using Entries = std::unordered_set<std::unique_ptr<QueueEntry>, KeyHash, KeyEqual>;
  static std::string_view KeyOf(std::string_view key) { return key; }
  static std::string_view KeyOf(const std::unique_ptr<QueueEntry>& entry) {
    const QueuedEntity& entity = entry->entity;
    return entity.group != nullptr ? std::string_view(entity.group->name) : entity.pod->uid();
  }

  QueueEntry* Entry(std::string_view uid) const;
  QueueEntry& EntryInFlight(std::string_view uid) const;
  QueueEntry& PodInFlight(std::string_view uid) const;
  void Create(PodRef pod);
  void Forget(QueueEntry& entry);
  void SetPod(QueueEntry& entry, const PodRef& pod);
  uint64_t& ReportedOf(QueueEntry& entry, std::string_view uid);

  // Empty: it is of none.
  std::string GroupNameOf(const Pod& pod) const;
  QueueEntry* Group(std::string_view name) const;
  void CreateInGroup(PodRef pod, std::string name);
  void Rejoin(QueueEntry& entry, Requeueing how);
  void RemoveFromGroup(QueueEntry& group, std::string_view uid);
  void AddMember(QueueEntry& group, QueuedGroup::Member member);
  QueuedGroup::Member DropMember(QueueEntry& group, std::string_view uid);
  void OnRoomLost(const PodRef& pod);
  // Members come or go by `change`. `when_ready`: what becomes of a group that is active.
  void Regroup(QueueEntry& group, const std::function<void()>& change,
               Requeueing when_ready = Requeueing::kImmediately);

  // The one way from place to place; but TakeFromGroup() splits what is in flight.
  void Move(QueueEntry& entry, QueuePlace to);
  void Enter(QueueEntry& entry, QueuePlace to);
  void Leave(QueueEntry& entry);

  // The attempt is over; what has become of it since.
  Requeueing EndAttempt(QueueEntry& entry, Rejection rejection);
  // Parked, or as Requeue() has it.
  void Resume(QueueEntry& entry, Requeueing how);
  // Not parked any more: active, in a backoff, or gated. `was_flushed`: for time alone.
  void Requeue(QueueEntry& entry, Requeueing how, bool was_flushed = false);
  // Asks PreEnqueue, and gates the entity where it says no.
  bool IsHeldBack(QueueEntry& entry);

  void Offer(const QueueEvent& event, const EntityFilter* which);
  void Offer(const QueueEvent& event, const EntityFilter* which, const EntityFilter* in_flight);
  void OfferToAll(const QueueEvent& event, const EntityFilter* which);
  Requeueing JudgeEvent(const QueuedEntity& entity, const QueueEvent& event);
  Requeueing JudgeFlight(const QueueEntry& entry);
  void OfferChange(QueueEntry& entry, const PodRef& old, const PodRef& pod);
  void OfferArrival(const PodRef& pod);
  // The room that the pod was promised there is free.
  void OnNominationGone(const PodRef& pod, std::string_view node);

  void MoveReady(EntityHeap& heap, int64_t at_ns);
  void Flush(int64_t now_ns);
  EntityHeap& HeapOf(QueuePlace place);
  void CheckEntry(const QueueEntry& entry) const;
  void CheckGroup(const QueueEntry& entry) const;

  QueuePolicy& policy_;
  const std::function<int64_t()> now_ns_;
  const Options options_;
  const Backoff backoff_;
  InterestTable interests_;
  Entries entries_;  // Pods by themselves.
  bool has_groups_;
  Entries groups_;                  // Without members only in flight.
  StringMap<QueueEntry*> members_;  // Groups, by the uids of their members.
  std::array<size_t, 6> counts_{};  // By QueuePlace.
  EntityHeap active_;
  EntityHeap backing_off_;  // Windows: when the backoff ends.
  EntityHeap error_backing_off_;
  ParkedIndex parked_{interests_};
  EventLog log_;
  Nominator nominator_;
  uint64_t sequence_ = 0;
  int64_t next_flush_ns_;

  // Kept for their memory; empty between calls.
  std::vector<const Interest*> matching_;
  std::vector<ParkedIndex::Helped> helped_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_SCHEDULING_QUEUE_H_
