// What the queue keeps of an entity beside what others may see of it.
#ifndef BERTH_HOST_QUEUE_QUEUE_ENTRY_H_
#define BERTH_HOST_QUEUE_QUEUE_ENTRY_H_

#include <cstddef>
#include <cstdint>

#include "host/base/assert.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

struct ParkedClass;

// Never moves in memory. What belongs to one place means nothing in another.
struct QueueEntry {
  QueuedEntity entity;
  // Of entities that compare equal the lower one is tried first. Renewed with queued_ns.
  uint64_t sequence = 0;
  bool is_placed = false;  // False: it is new, entity.place means nothing yet.

  // Active and in a backoff.
  uint32_t heap_index = 0;

  // Unschedulable and gated.
  uint32_t index_in_class = 0;
  ParkedClass* parked_in = nullptr;
  int64_t parked_ns = 0;  // When it was parked, or last asked in vain.

  // In flight.
  uint64_t log_start = 0;     // The first event that it has not seen.
  uint64_t recording = 0;     // The number of its recording: no other has it, ever.
  bool is_recording = false;  // Events are kept for it.
  bool is_removed = false;    // The cluster has forgotten it: so do we, when its attempt ends.

  // Links of the one list that it may be in.
  QueueEntry* previous = nullptr;
  QueueEntry* next = nullptr;
};

// A list without memory of its own. An entry may be in one list at a time.
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
