// The order in which entities leave the queue.
#ifndef BERTH_HOST_QUEUE_QUEUE_ORDER_H_
#define BERTH_HOST_QUEUE_QUEUE_ORDER_H_

#include <array>
#include <cstdint>

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
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_ORDER_H_
