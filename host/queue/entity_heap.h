// The heap of entities that wait for their turn: the active queue and the two backoffs.
#ifndef BERTH_HOST_QUEUE_ENTITY_HEAP_H_
#define BERTH_HOST_QUEUE_ENTITY_HEAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/queue/queue_entry.h"
#include "host/queue/queue_order.h"

namespace berth::host {

// Ordered by window, then as QueueSort says, then by QueueEntry::sequence. Four children to a node,
// and the whole key in the node: a look at the order touches no entity.
//
// Threading: the scheduling thread.
// Lifetime:  `order` must outlive the heap; entries must stay where they are while they are in it.
// Cost:      Push, Remove and Update are O(log size).
class EntityHeap {
 public:
  explicit EntityHeap(const QueueOrder& order) : order_(order), has_key_(order.has_key()) {}
  EntityHeap(const EntityHeap&) = delete;
  EntityHeap& operator=(const EntityHeap&) = delete;

  // `window`: lower ones come first, whatever the order says.
  // REQUIRES: it is in no heap.
  void Push(QueueEntry& entry, int64_t window = 0);
  // REQUIRES: it is here. All below too.
  void Remove(QueueEntry& entry);
  // Its pod has changed; its place may.
  void Update(QueueEntry& entry);
  // The order has changed.
  void Rebuild();

  // REQUIRES: !empty().
  QueueEntry& front() const { return *nodes_.front().entry; }
  int64_t front_window() const { return nodes_.front().window; }
  bool Contains(const QueueEntry& entry) const {
    return entry.heap_index < nodes_.size() && nodes_[entry.heap_index].entry == &entry;
  }
  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }

  // Asserts that nothing stands before what should come first, and that entries know their index.
  void CheckInvariants() const;

 private:
  struct Node {
    int64_t window = 0;
    std::array<uint64_t, sizeof(SortKey) / sizeof(uint64_t)> key{};  // First byte highest.
    uint64_t sequence = 0;
    QueueEntry* entry = nullptr;
  };

  Node MakeNode(QueueEntry& entry, int64_t window) const;
  bool Before(const Node& a, const Node& b) const;
  bool EqualWindowBefore(const Node& a, const Node& b) const;
  void Place(size_t index, const Node& node);
  // The node whose place is free at `index` goes there, or further up or down.
  void SiftUp(size_t index, const Node& node);
  void SiftDown(size_t index, const Node& node);
  // The first among the children of `index`; size() if it has none.
  size_t FirstChild(size_t index) const;

  const QueueOrder& order_;
  bool has_key_;
  std::vector<Node> nodes_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_ENTITY_HEAP_H_
