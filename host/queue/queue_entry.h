// The queue's internal record of an entity, and an intrusive list of such records.
#ifndef BERTH_HOST_QUEUE_QUEUE_ENTRY_H_
#define BERTH_HOST_QUEUE_QUEUE_ENTRY_H_

#include <cstddef>
#include <cstdint>

#include "host/base/assert.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

struct ParkedClass;

// A queued entity with the queue's internal data. Never moves in memory. Fields listed for one
// place are meaningless in any other place.
struct QueueEntry {
  QueuedEntity entity;
  // Orders entities that compare equal: the lower number is tried first. Renewed with queued_ns.
  uint64_t sequence = 0;
  // A field of all places but kInFlight: the position in the heap, or in ParkedClass::pods.
  uint32_t index = 0;
  bool is_placed = false;  // False for a new entry, whose entity.place is meaningless.

  // Fields of the place kInFlight:
  bool is_recording = false;  // The event log records events for this entry.
  // The cluster deleted the pod; the entry is erased when its attempt ends.
  bool is_removed = false;
  uint64_t log_start = 0;  // The number of the first event after the recording started.
  uint64_t recording = 0;  // The number of the recording; never reused.

  // A field of the place kActive: the entity's lane, if the order has lanes.
  uint64_t lane = 0;

  // Fields of the places kUnschedulable and kGated:
  ParkedClass* parked_in = nullptr;
  int64_t parked_ns = 0;  // When the entry was parked, or PreEnqueue last rejected it.

  // Links of the one EntryList that the entry may be in.
  QueueEntry* previous = nullptr;
  QueueEntry* next = nullptr;
};

// A doubly linked intrusive list. An entry may be in one list at a time.
class EntryList {
 public:
  EntryList() = default;
  EntryList(const EntryList&) = delete;
  EntryList& operator=(const EntryList&) = delete;

  void PushBack(QueueEntry& entry) {
    entry.previous = back_;
    entry.next = nullptr;
    (back_ != nullptr ? back_->next : front_) = &entry;
    back_ = &entry;
    ++size_;
  }
  // REQUIRES: `before` is in the list.
  void InsertAfter(QueueEntry& before, QueueEntry& entry) {
    if (&before == back_) return PushBack(entry);
    entry.previous = &before;
    entry.next = before.next;
    entry.next->previous = before.next = &entry;
    ++size_;
  }
  void Remove(QueueEntry& entry) {
    BERTH_ASSERT(size_ > 0);
    (entry.previous != nullptr ? entry.previous->next : front_) = entry.next;
    (entry.next != nullptr ? entry.next->previous : back_) = entry.previous;
    entry.previous = entry.next = nullptr;
    --size_;
  }

  QueueEntry* front() const { return front_; }
  bool empty() const { return front_ == nullptr; }
  size_t size() const { return size_; }

 private:
  QueueEntry* front_ = nullptr;
  QueueEntry* back_ = nullptr;
  size_t size_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_ENTRY_H_
