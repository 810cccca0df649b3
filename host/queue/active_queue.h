// The active queue: what is ready to be tried, in QueueSort's order.
#ifndef BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_
#define BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/api/string_map.h"
#include "host/queue/queue_order.h"

namespace berth::host {

// What the queue holds: a pod, with what the queue knows of it. The view that plugins get is made
// from it, so that object data and queue data never mix.
struct QueuedEntity {
  PodRef pod;
  uint32_t attempts = 0;
  int64_t queued_ns = 0;         // When it last entered the queue.
  int64_t first_attempt_ns = 0;  // When it first became ready; 0: not yet.

  berth_queued View() const;
};

// A binary heap with look-up by uid. Entities that compare equal leave in the order in which they
// came.
//
// Threading: the scheduling thread.
// Cost:      Push, Pop, Update and Remove are O(log size).
class ActiveQueue {
 public:
  // `order` must outlive the queue.
  explicit ActiveQueue(const QueueOrder& order) : order_(order) {}
  ActiveQueue(const ActiveQueue&) = delete;
  ActiveQueue& operator=(const ActiveQueue&) = delete;

  // REQUIRES: no entity with this pod's uid is here.
  void Push(QueuedEntity entity);
  // The first. REQUIRES: !empty().
  QueuedEntity Pop();
  // Replaces the pod object of the entity with this uid; its place may change. False: not here.
  bool Update(PodRef pod);
  // False: not here.
  bool Remove(std::string_view uid);

  bool Contains(std::string_view uid) const { return slots_.contains(uid); }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }

 private:
  struct Slot {
    QueuedEntity entity;
    SortKey key{};
    uint64_t sequence = 0;
    size_t index = 0;  // Into heap_.
  };

  bool Before(const Slot& a, const Slot& b) const;
  void Place(size_t index, Slot* slot);
  void SiftUp(size_t index);
  void SiftDown(size_t index);
  std::unique_ptr<Slot> Take(size_t index);

  const QueueOrder& order_;
  std::vector<Slot*> heap_;
  StringMap<std::unique_ptr<Slot>> slots_;  // By uid.
  uint64_t sequence_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_ACTIVE_QUEUE_H_
