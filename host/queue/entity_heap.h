// A heap of queued entities, used for the lanes of the active queue and the two backoff queues.
#ifndef BERTH_HOST_QUEUE_ENTITY_HEAP_H_
#define BERTH_HOST_QUEUE_ENTITY_HEAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/queue/queue_entry.h"
#include "host/queue/queue_order.h"

namespace berth::host {

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

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_ENTITY_HEAP_H_
