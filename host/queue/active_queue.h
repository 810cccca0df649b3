// The active queue: the entities that are ready to be tried, in the order of QueueSort.
#ifndef BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_
#define BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/base/string_map.h"
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
  // REQUIRES: the entry is in this heap. This also holds for Update() and SetWindow().
  void Remove(QueueEntry& entry);
  // Moves the entry to its new position after its pod changed.
  void Update(QueueEntry& entry);
  // Moves the entry to another window.
  void SetWindow(QueueEntry& entry, int64_t window);
  // Restores the heap after the order changed.
  void Rebuild();
  // Removes all entries, appends them to `entries` in no particular order, and releases the memory.
  void TakeAll(std::vector<QueueEntry*>& entries);

  // REQUIRES: !empty().
  QueueEntry& front() const { return *nodes_.front().entry; }
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
  // Replaces the node at `index` and moves it to its position.
  void Replace(size_t index, const Node& node);
  // Stores `node` at `index`, whose slot is free, or further up or down.
  void SiftUp(size_t index, const Node& node);
  void SiftDown(size_t index, const Node& node);
  // Returns the index of the first child of `index` in heap order; size() if it has no child.
  size_t FirstChild(size_t index) const;

  const QueueOrder& order_;
  bool has_key_;
  std::vector<Node> nodes_;
};

// The entities of one lane, in the order in which they leave it: that of the heap, except that pods
// which share an entity follow each other (QueueOrder::has_shared_entities).
//
// A pod that Next() returns in the order of the heap begins a run of its entity. The other pods of
// the entity come next, in the order of the heap, also those that enter during the run. The run
// ends when Next() finds none of them. A pod that was taken in the run and enters again does not
// belong to it, so that every run ends, whatever fails. Groups (QueuedGroup) share no entity.
//
// Threading: the scheduling thread.
// Lifetime:  `order` must outlive the lane. An entry must not move in memory while it is in it.
// Cost:      O(log size); the begin of a run: O(log size) for each pod of the entity. If no pods
//            may share an entity, one test more than EntityHeap.
class LaneQueue {
 public:
  explicit LaneQueue(const QueueOrder& order);
  LaneQueue(const LaneQueue&) = delete;
  LaneQueue& operator=(const LaneQueue&) = delete;

  // REQUIRES: the entry is in no heap.
  void Push(QueueEntry& entry);
  // REQUIRES: the entry is in this lane. This also holds for Update().
  void Remove(QueueEntry& entry);
  // Moves the entry to its new position after its pod changed, which may share another entity now.
  void Update(QueueEntry& entry);
  // Restores the lane after the order changed, and ends the run.
  void Rebuild();
  // Removes all entries, appends them to `entries` in no particular order, and ends the run.
  void TakeAll(std::vector<QueueEntry*>& entries);

  // Returns the first entity and counts it as taken, so that the caller must remove it.
  // REQUIRES: !empty().
  QueueEntry& Next();
  // Ends the run: no pod of its entity was found. REQUIRES: empty().
  void EndRun();

  // REQUIRES: !empty().
  QueueEntry& front() const { return heap_.front(); }
  bool Contains(const QueueEntry& entry) const { return heap_.Contains(entry); }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }

  // Asserts the order of the heap, and that the index of shared entities is right. For tests; costs
  // O(size).
  void CheckInvariants() const;

 private:
  // Adds the entry to the index of shared entities.
  void Join(QueueEntry& entry);
  // Removes the entry from the index.
  void Leave(QueueEntry& entry);
  void BeginRun(const QueueEntry& entry);
  // Returns the window of the entry: that of the pods that belong to the run comes first.
  int64_t WindowOf(const QueueEntry& entry) const;

  const QueueOrder& order_;
  bool has_shared_;
  EntityHeap heap_;
  StringMap<SharedEntity> shared_;  // By name.
  // The number of the run: the sequence of the entry that began it, which is never reused.
  uint64_t run_ = 0;
  std::string run_entity_;  // The name of the entity of the run; empty: no pod belongs to it.
};

// One lane, or several if the order has lanes (QueueOrder::has_lanes). An entity gets its lane when
// it enters, and stays in it until it leaves. A lane exists while it has entities.
//
// Threading: the scheduling thread.
// Lifetime:  `order` must outlive the queue. An entry must not move in memory while it is in the
//            queue.
// Cost:      that of LaneQueue; with lanes also O(lanes) to push the first and to remove the last
//            entity of a lane, and the cost of QueueOrder::NextLane for Next.
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

  // Returns the entity that is to be tried now and counts it as taken, as the plugin does with
  // lanes, so that the caller must remove it. REQUIRES: !empty().
  QueueEntry& Next();
  // Ends the run of an entity, because no entity is left. REQUIRES: empty().
  void EndRun() { lane_.EndRun(); }

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
  // The entities of a lane, and the view of the first one, to which berth_lane::first points.
  struct NumberedLane {
    explicit NumberedLane(const QueueOrder& order) : queue(order) {}

    LaneQueue queue;
    berth_queued first{};
  };

  // Returns the index of the lane with this number, or of the first one with a higher number.
  size_t IndexOf(uint64_t lane) const;
  bool HasLaneAt(size_t index, uint64_t lane) const {
    return index < lanes_.size() && lanes_[index].lane == lane;
  }
  // Updates what lanes_ states about the lane after its entities changed.
  void Refresh(size_t index);
  void EraseLane(size_t index);

  const QueueOrder& order_;
  bool has_lanes_;
  size_t size_ = 0;
  LaneQueue lane_;  // Holds all entities if the order has no lanes.
  // The lanes, sorted by number, and their entities in the same order.
  std::vector<berth_lane> lanes_;
  std::vector<std::unique_ptr<NumberedLane>> queues_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_
