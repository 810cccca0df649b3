// Computes when the scheduling queue flushes entities that have been parked for too long.
#ifndef BERTH_HOST_QUEUE_FLUSH_SCHEDULE_H_
#define BERTH_HOST_QUEUE_FLUSH_SCHEDULE_H_

#include <cstdint>
#include <optional>

namespace berth::host {

// Flushes are due every 30 s. A flush affects the entities that have then been parked for longer
// than a limit. Flushes that were missed are not made up for: only the latest one takes place.
// (kube-scheduler: scheduling_queue.go, flushUnschedulableEntitiesLeftover)
// Threading: the scheduling thread.
class FlushSchedule {
 public:
  // The first flush is due 30 s after `now_ns`. `limit_ns` is the longest time that an entity stays
  // parked.
  FlushSchedule(int64_t now_ns, int64_t limit_ns);

  // Starts the latest flush that is due at `now_ns`. Returns the time before which an entity must
  // have been parked to be flushed; none if no flush is due.
  std::optional<int64_t> Start(int64_t now_ns);
  // Returns when an entity that was parked at `parked_ns` will be flushed.
  int64_t TimeFor(int64_t parked_ns) const;

 private:
  int64_t limit_ns_;
  int64_t next_ns_;  // When the next flush is due.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_FLUSH_SCHEDULE_H_
