// The places of the scheduling queue: which entity is in which place.
#ifndef BERTH_HOST_QUEUE_QUEUE_PLACES_H_
#define BERTH_HOST_QUEUE_QUEUE_PLACES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/queue/active_queue.h"
#include "host/queue/backoff.h"
#include "host/queue/event_matcher.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// Active entities are in the active queue, backing-off entities in one heap per place,
// unschedulable and gated entities in the index of parked entities, and entities in flight record
// events in the log. This class does not decide when an entity moves; SchedulingQueue does.
//
// Threading: the scheduling thread.
// Lifetime:  `order`, `clock`, `backoff` and `interests` must outlive the places. An entry must not
//            move in memory or be destroyed while it is in a place.
// Cost:      Move, Leave, Update: O(log size of the heap), otherwise O(1). For lanes see
//            ActiveQueue.
class QueuePlaces {
 public:
  // `max_logged_events`: see EventLog.
  QueuePlaces(const QueueOrder& order, const Clock& clock, const Backoff& backoff,
              const InterestTable& interests, size_t max_logged_events);
  QueuePlaces(const QueuePlaces&) = delete;
  QueuePlaces& operator=(const QueuePlaces&) = delete;

  // Moves the entry from its place, if it has one, to another, and sets the fields of the entity
  // that depend on the place: first_attempt_ns in the active queue, backoff_until_ns in a backoff
  // queue. Resets the gate unless the entity is gated. Recording starts when the entry enters
  // kInFlight and stops when it leaves.
  // REQUIRES: an entity may move from the one place to the other. An entry without a place enters
  // at kActive or kGated; a group may enter anywhere.
  void Move(QueueEntry& entry, QueuePlace to);
  // Removes the entry from its place. entity.place keeps its value. REQUIRES: the entry is in a
  // place.
  void Leave(QueueEntry& entry);
  // Puts an entry in flight. Events are recorded for it since the recording of `other` started.
  // REQUIRES: `other` is in flight, and `entry` is in no place.
  void EnterInFlightWith(QueueEntry& other, QueueEntry& entry);
  // Calls `change`, which replaces a pod of the entry, and moves the entry to its new position
  // within its place. REQUIRES: the entry is in a place.
  template <class F>
  void Update(QueueEntry& entry, F change) {
    switch (entry.entity.place) {
      case QueuePlace::kActive:
        change();
        active_.Update(entry);
        break;
      case QueuePlace::kBackoff:
      case QueuePlace::kErrorBackoff:
        change();
        HeapOf(entry.entity.place).Update(entry);
        break;
      case QueuePlace::kUnschedulable:
      case QueuePlace::kGated: parked_.Update(entry, change); break;
      case QueuePlace::kInFlight: change(); break;
    }
  }
  // Restores all places after the interests or the order changed. No entity changes its place.
  void Rebuild();

  // Returns the active entry that is to be tried now; null if none is active. It counts as tried,
  // so that the caller must move it to kInFlight.
  QueueEntry* NextActive() {
    if (!active_.empty()) return &active_.Next();
    active_.EndRun();
    return nullptr;
  }
  // Returns an entry whose backoff ends first; null if the place is empty. REQUIRES: `place` is
  // kBackoff or kErrorBackoff.
  QueueEntry* FirstBackoff(QueuePlace place) const {
    const EntityHeap& heap = heaps_[HeapIndexOf(place)];
    return heap.empty() ? nullptr : &heap.front();
  }
  // Returns the number of entities in the place.
  size_t CountIn(QueuePlace place) const { return counts_[static_cast<size_t>(place)]; }

  // The index of the entities in kUnschedulable and kGated, and the log for those in kInFlight.
  // Must not: be used to add or remove entries, nor to start recording; Move() does this.
  ParkedIndex& parked() { return parked_; }
  const ParkedIndex& parked() const { return parked_; }
  EventLog& log() { return log_; }

  // Asserts that each of `entries`, which are all entries, is in exactly the place that it records.
  // For tests; costs O(size).
  void CheckInvariants(std::span<const QueueEntry* const> entries) const;

 private:
  static constexpr size_t kPlaceCount = 6;
  static constexpr size_t kHeapCount = 2;  // kBackoff, kErrorBackoff.

  static size_t HeapIndexOf(QueuePlace place) {
    BERTH_ASSERT(place == QueuePlace::kBackoff || place == QueuePlace::kErrorBackoff);
    return place == QueuePlace::kBackoff ? 0 : 1;
  }
  EntityHeap& HeapOf(QueuePlace place) { return heaps_[HeapIndexOf(place)]; }
  void Enter(QueueEntry& entry, QueuePlace to);
  void CheckEntry(const QueueEntry& entry) const;

  const Clock& clock_;
  const Backoff& backoff_;
  std::array<size_t, kPlaceCount> counts_{};  // The number of entities by QueuePlace.
  ActiveQueue active_;
  // The backoff queues; the window of an entity is the end of its backoff.
  std::array<EntityHeap, kHeapCount> heaps_;
  ParkedIndex parked_;
  EventLog log_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_PLACES_H_
