// Decides which place of the scheduling queue an entity enters when it is tried again.
#ifndef BERTH_HOST_QUEUE_REQUEUER_H_
#define BERTH_HOST_QUEUE_REQUEUER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/queue/backoff.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_meter.h"
#include "host/queue/queue_places.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// Moves entities to the active queue, to a backoff queue, or to the parked entities, runs
// PreEnqueue on the way, and counts each move with its cause. Every entity that is not being
// popped enters its place through this class.
//
// Threading: the scheduling thread.
// Lifetime:  the arguments of the constructor and the meter must outlive it.
// (kube-scheduler: scheduling_queue.go, moveToActiveQ and moveToBackoffQ)
class Requeuer {
 public:
  // `pop_from_backoff`: see SchedulingQueue::Options.
  Requeuer(QueuePolicy& policy, const Clock& clock, const Backoff& backoff, QueuePlaces& places,
           bool pop_from_backoff)
      : policy_(policy),
        clock_(clock),
        backoff_(backoff),
        places_(places),
        pop_from_backoff_(pop_from_backoff) {}
  Requeuer(const Requeuer&) = delete;
  Requeuer& operator=(const Requeuer&) = delete;

  // Sets what counts the entities that enter a place; null for none.
  void SetMeter(QueueMeter* meter) { meter_ = meter; }
  bool has_meter() const { return meter_ != nullptr; }
  // Sets the cause of the moves from now on: one of the constants of QueueMeter, or an event.
  void SetCause(std::string_view constant) { cause_ = constant; }
  void SetCause(const QueueEvent& event);
  // Sets the arrival of a pod as the cause.
  void SetCauseAdded() {
    if (meter_ != nullptr) cause_ = meter_->pod_added();
  }

  // Moves the entity to the active queue, or to a backoff queue if `how` is kAfterBackoff and its
  // backoff is still in effect. Gates the entity instead if PreEnqueue rejects it. `was_flushed`:
  // the periodic flush alone is the reason.
  void Requeue(QueueEntry& entry, Requeueing how, bool was_flushed = false);
  // Parks the entity if `how` is kSkip; otherwise requeues it.
  void ParkOrRequeue(QueueEntry& entry, Requeueing how);
  // Replaces the rejection of the entity, and counts its pods for the plugins of the new one only.
  void SetRejection(QueueEntry& entry, Rejection rejection);
  // Calls `change`, which changes the pods of the entity, and counts the new ones for the plugins
  // of its rejection instead of the former ones.
  template <class F>
  void ChangePods(const QueueEntry& entry, F change) {
    if (meter_ != nullptr) meter_->CountRejected(entry.entity, -1);
    change();
    if (meter_ != nullptr) meter_->CountRejected(entry.entity, 1);
  }
  // Runs PreEnqueue. If a plugin rejects a pod of the entity, gates the entity and returns true.
  bool GateIfPreEnqueueRejects(QueueEntry& entry);
  // Moves the entities of a backoff queue whose backoff is over at `at_ns` to the active queue.
  void EndBackoffs(QueuePlace place, int64_t at_ns);

 private:
  void Move(QueueEntry& entry, QueuePlace to);

  QueuePolicy& policy_;
  const Clock& clock_;
  const Backoff& backoff_;
  QueuePlaces& places_;
  const bool pop_from_backoff_;
  QueueMeter* meter_ = nullptr;
  std::string_view cause_;
  std::string event_label_;  // The text of cause_ for an event.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_REQUEUER_H_
