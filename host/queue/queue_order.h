// The order in which entities leave the queue.
#ifndef BERTH_HOST_QUEUE_QUEUE_ORDER_H_
#define BERTH_HOST_QUEUE_QUEUE_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <berth/abi.h>

namespace berth::host {

using SortKey = std::array<uint8_t, BERTH_SORT_KEY_SIZE>;

// The queue's interface to the QueueSort plugin.
// Threading: [queue].
class QueueOrder {
 public:
  virtual ~QueueOrder() = default;

  // Returns true if entities are ordered by their keys, byte by byte, lowest first.
  virtual bool has_key() const = 0;
  // Returns the entity's sort key. REQUIRES: has_key().
  virtual SortKey KeyOf(const berth_queued& queued) const = 0;
  // Returns true if `a` is to be tried before `b`. REQUIRES: !has_key().
  virtual bool Less(const berth_queued& a, const berth_queued& b) const = 0;

  // Returns true if the active queue is divided into lanes. The order above is then that within a
  // lane.
  virtual bool has_lanes() const { return false; }
  // Returns the number of the entity's lane. REQUIRES: has_lanes().
  virtual uint64_t LaneOf(const berth_queued& /*queued*/) const { return 0; }
  // Returns the index of the lane whose first entity is tried now; it is below lanes.size().
  // Called: once for each entity that is taken from the active queue.
  // REQUIRES: has_lanes(), and `lanes` is not empty.
  virtual size_t NextLane(std::span<const berth_lane> /*lanes*/) const { return 0; }
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_ORDER_H_
