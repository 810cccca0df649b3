// The active queue: the entities that are ready to be tried, in the order of QueueSort.
#ifndef BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_
#define BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <berth/abi.h>

#include "host/queue/entity_heap.h"
#include "host/queue/queue_entry.h"
#include "host/queue/queue_order.h"

namespace berth::host {

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
