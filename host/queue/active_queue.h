// The active queue: the entities that are ready to be tried, in the order of QueueSort.
#ifndef BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_
#define BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <berth/abi.h>

#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// A heap of queued entities.
//
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

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_
