// The places of the scheduling queue: which entity is in which place, the data structure of each
// place, and which place a requeued entity enters.
#ifndef BERTH_HOST_QUEUE_QUEUE_PLACES_H_
#define BERTH_HOST_QUEUE_QUEUE_PLACES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/queue/event_matcher.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_meter.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// --- backoff -------------------------------------------------------------------------------------
//
// How long a pod waits after a failed attempt before it may be tried again.

// The duration doubles with every failed attempt, up to the maximum: 1, 2, 4, 8, 10, 10 ... seconds
// with the defaults. The count is the number of consecutive errors if the last attempt ended in an
// error, otherwise the number of rejections.
//
// With windows, pods whose backoff ends within the same second share one window: QueueSort orders
// them, and they become ready together when that second is over. A backoff of n seconds then takes
// between n - 1 and n + 1 seconds.
//
// (kube-scheduler: pkg/scheduler/backend/queue/backoff_queue.go; windows: SchedulerPopFromBackoffQ)
class Backoff {
 public:
  // A `max_ns` of 0 disables backoff.
  Backoff(int64_t initial_ns, int64_t max_ns, bool has_windows)
      : initial_ns_(initial_ns), max_ns_(max_ns), has_windows_(has_windows) {}

  // Returns the duration of the entity's backoff; 0 if it has none.
  int64_t DurationNs(const QueuedEntity& entity) const {
    const uint32_t count = entity.error_count > 0 ? entity.error_count : entity.rejected_count;
    if (count == 0) return 0;
    const uint32_t doublings = count - 1;
    if (doublings >= 63 || initial_ns_ > (max_ns_ >> doublings)) return max_ns_;
    return initial_ns_ << doublings;
  }
  // Returns the time at which the backoff ends, counted from queued_ns and, with windows, rounded
  // down to a whole second; 0 if the entity has no backoff.
  int64_t UntilNs(const QueuedEntity& entity) const {
    const int64_t duration = DurationNs(entity);
    return duration == 0 ? 0 : Align(entity.queued_ns + duration);
  }
  // Returns whether the backoff is still in effect at `now_ns`. A backoff that ends exactly at
  // `now_ns`, or in the window of `now_ns`, is still in effect.
  bool IsOn(int64_t until_ns, int64_t now_ns) const {
    return until_ns != 0 && until_ns >= Align(now_ns);
  }
  // Returns the first whole second at which a backoff that ends at `until_ns` is over.
  static int64_t TickAfter(int64_t until_ns) { return until_ns - until_ns % kSecond + kSecond; }

 private:
  // Returns the start of the window of `at_ns`; if there are no windows, returns `at_ns`.
  int64_t Align(int64_t at_ns) const { return has_windows_ ? at_ns - at_ns % kSecond : at_ns; }

  int64_t initial_ns_;
  int64_t max_ns_;
  bool has_windows_;
};

// --- flush schedule ------------------------------------------------------------------------------
//
// Computes when the scheduling queue flushes entities that have been parked for too long.

// Flushes are due every 30 s. A flush affects the entities that have then been parked for longer
// than a limit. Flushes that were missed are not made up for: only the latest one takes place.
// (kube-scheduler: scheduling_queue.go, flushUnschedulableEntitiesLeftover)
// Threading: the scheduling thread.
class FlushSchedule {
 public:
  // The first flush is due 30 s after `now_ns`. `limit_ns` is the longest time that an entity stays
  // parked.
  FlushSchedule(int64_t now_ns, int64_t limit_ns)
      : limit_ns_(limit_ns), next_ns_(now_ns + kPeriodNs) {}

  // Starts the latest flush that is due at `now_ns`. Returns the time before which an entity must
  // have been parked to be flushed; none if no flush is due.
  std::optional<int64_t> Start(int64_t now_ns) {
    if (now_ns < next_ns_) return std::nullopt;
    const int64_t at_ns = now_ns - (now_ns - next_ns_) % kPeriodNs;
    next_ns_ = at_ns + kPeriodNs;
    return at_ns - limit_ns_;
  }
  // Returns when an entity that was parked at `parked_ns` will be flushed.
  int64_t TimeFor(int64_t parked_ns) const {
    const int64_t late_ns = parked_ns + limit_ns_ - next_ns_;
    const int64_t rounds = late_ns < 0 ? 0 : late_ns / kPeriodNs + 1;
    return next_ns_ + rounds * kPeriodNs;
  }

 private:
  static constexpr int64_t kPeriodNs = 30 * kSecond;

  int64_t limit_ns_;
  int64_t next_ns_;  // When the next flush is due.
};

// --- entity heap ---------------------------------------------------------------------------------
//
// A heap of queued entities, used for the lanes of the active queue and the two backoff queues.

// Orders entities by window, then by QueueSort, then by QueueEntry::sequence. Every heap node has
// four children and stores the entity's whole sort key, so that a comparison does not read the
// entity.
//
// Threading: the scheduling thread.
// Lifetime:  `order` must outlive the heap. An entry must not move in memory while it is in the
//            heap.
// Cost:      Push, Remove and Update are O(log size).
class EntityHeap {
 public:
  explicit EntityHeap(const QueueOrder& order) : order_(order), has_key_(order.has_key()) {}
  EntityHeap(const EntityHeap&) = delete;
  EntityHeap& operator=(const EntityHeap&) = delete;

  // Adds the entry. Entries of a lower `window` come first, whatever their order.
  // REQUIRES: the entry is in no heap.
  void Push(QueueEntry& entry, int64_t window = 0);
  // REQUIRES: the entry is in this heap. This also holds for Update().
  void Remove(QueueEntry& entry);
  // Moves the entry to its new position after its pod changed.
  void Update(QueueEntry& entry);
  // Restores the heap after the order changed.
  void Rebuild();
  // Removes all entries, appends them to `entries` in no particular order, and releases the memory.
  void TakeAll(std::vector<QueueEntry*>& entries);

  // REQUIRES: !empty().
  QueueEntry& front() const { return *nodes_.front().entry; }
  // For tests.
  int64_t front_window() const { return nodes_.front().window; }
  bool Contains(const QueueEntry& entry) const {
    return entry.index < nodes_.size() && nodes_[entry.index].entry == &entry;
  }
  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }

  // Asserts the heap order and that every entry stores its index.
  void CheckInvariants() const;

 private:
  struct Node {
    int64_t window = 0;
    std::array<uint64_t, sizeof(SortKey) / sizeof(uint64_t)> key{};  // Big-endian words.
    uint64_t sequence = 0;
    QueueEntry* entry = nullptr;
  };

  Node MakeNode(QueueEntry& entry, int64_t window) const;
  bool Before(const Node& a, const Node& b) const;
  bool EqualWindowBefore(const Node& a, const Node& b) const;
  void Place(size_t index, const Node& node);
  // Stores `node` at `index`, whose slot is free, or further up or down.
  void SiftUp(size_t index, const Node& node);
  void SiftDown(size_t index, const Node& node);
  // Returns the index of the first child of `index` in heap order; size() if it has no child.
  size_t FirstChild(size_t index) const;

  const QueueOrder& order_;
  bool has_key_;
  std::vector<Node> nodes_;
};

// --- active queue --------------------------------------------------------------------------------
//
// The active queue: the entities that are ready to be tried, in the order of QueueSort.

// One heap, or one heap per lane if the order has lanes (QueueOrder::has_lanes). An entity gets its
// lane when it enters, and stays in it until it leaves. A lane exists while it has entities.
//
// Threading: the scheduling thread.
// Lifetime:  `order` must outlive the queue. An entry must not move in memory while it is in the
//            queue.
// Cost:      Push, Remove and Update: O(log size); with lanes also O(lanes) for the first and the
//            last entity of a lane. Next: O(1); with lanes, the cost of QueueOrder::NextLane.
class ActiveQueue {
 public:
  explicit ActiveQueue(const QueueOrder& order);
  ActiveQueue(const ActiveQueue&) = delete;
  ActiveQueue& operator=(const ActiveQueue&) = delete;

  // REQUIRES: the entry is in no heap.
  void Push(QueueEntry& entry);
  // REQUIRES: the entry is in this queue. This also holds for Update().
  void Remove(QueueEntry& entry);
  // Moves the entry to its new position within its lane after its pod changed.
  void Update(QueueEntry& entry);
  // Restores the queue after the order changed: every entity gets its lane anew.
  void Rebuild();

  // Returns the entity that is to be tried now. With lanes, the plugin counts it as tried, so that
  // the caller must remove it. REQUIRES: !empty().
  QueueEntry& Next() const;

  bool Contains(const QueueEntry& entry) const;
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Returns the lanes that have entities, by ascending number; none if the order has no lanes.
  // Lifetime: until the next call of a non-const method.
  const std::vector<berth_lane>& lanes() const { return lanes_; }

  // Asserts the order of the heaps, and that the lanes are sorted, describe their heaps and are not
  // empty. For tests; costs O(size).
  void CheckInvariants() const;

 private:
  // The heap of a lane, and the view of its first entity, to which berth_lane::first points.
  struct LaneHeap {
    explicit LaneHeap(const QueueOrder& order) : heap(order) {}

    EntityHeap heap;
    berth_queued first{};
  };

  // Returns the index of the lane with this number, or of the first one with a higher number.
  size_t IndexOf(uint64_t lane) const;
  bool HasLaneAt(size_t index, uint64_t lane) const {
    return index < lanes_.size() && lanes_[index].lane == lane;
  }
  // Updates what lanes_ states about the lane after its heap changed.
  void Refresh(size_t index);
  void EraseLane(size_t index);

  const QueueOrder& order_;
  bool has_lanes_;
  size_t size_ = 0;
  EntityHeap heap_;  // Holds all entities if the order has no lanes.
  // The lanes, sorted by number, and their heaps in the same order.
  std::vector<berth_lane> lanes_;
  std::vector<std::unique_ptr<LaneHeap>> heaps_;
};

// --- places --------------------------------------------------------------------------------------

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

  // Returns the active entry that is to be tried now; null if none is active. QueueSort may count
  // it as tried, so that the caller must move it to kInFlight.
  QueueEntry* NextActive() const { return active_.empty() ? nullptr : &active_.Next(); }
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

// --- requeuer ------------------------------------------------------------------------------------
//
// Decides which place of the scheduling queue an entity enters when it is tried again.

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

#endif  // BERTH_HOST_QUEUE_QUEUE_PLACES_H_
