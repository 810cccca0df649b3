// The times of the scheduling queue: the backoff of a pod, and the flushes of parked entities.
#ifndef BERTH_HOST_QUEUE_BACKOFF_H_
#define BERTH_HOST_QUEUE_BACKOFF_H_

#include <cstdint>
#include <optional>

#include "host/base/time_units.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// How long a pod waits after a failed attempt before it may be tried again.
//
// The duration doubles with every failed attempt, up to the maximum: 1, 2, 4, 8, 10, 10 ... seconds
// with the defaults. The count is the number of consecutive errors if the last attempt ended in an
// error, otherwise the number of rejections.
//
// After a slow attempt, in which a plugin missed its deadline, it is 30 s, then 1, 2, 4, 5, 5 ...
// minutes, also if backoff is disabled: no other pod is scheduled while the plugin runs.
//
// With windows, pods whose backoff ends within the same second share one window: QueueSort orders
// them, and they become ready together when that second is over. A backoff of n seconds then takes
// between n - 1 and n + 1 seconds.
//
// (kube-scheduler: pkg/scheduler/backend/queue/backoff_queue.go; windows: SchedulerPopFromBackoffQ)
class Backoff {
 public:
  // A `max_ns` of 0 disables backoff.
  Backoff(int64_t initial_ns, int64_t max_ns, bool has_windows)
      : initial_ns_(initial_ns), max_ns_(max_ns), has_windows_(has_windows) {}

  // Returns the duration of the entity's backoff; 0 if it has none.
  int64_t DurationNs(const QueuedEntity& entity) const {
    if (entity.slow_count > 0) return Doubled(kSlowNs, kMaxSlowNs, entity.slow_count);
    const uint32_t count = entity.error_count > 0 ? entity.error_count : entity.rejected_count;
    return count == 0 ? 0 : Doubled(initial_ns_, max_ns_, count);
  }
  // Returns the time at which the backoff ends, counted from queued_ns and, with windows, rounded
  // down to a whole second; 0 if the entity has no backoff.
  int64_t UntilNs(const QueuedEntity& entity) const {
    const int64_t duration = DurationNs(entity);
    return duration == 0 ? 0 : Align(entity.queued_ns + duration);
  }
  // Returns whether the backoff is still in effect at `now_ns`. A backoff that ends exactly at
  // `now_ns`, or in the window of `now_ns`, is still in effect.
  bool IsOn(int64_t until_ns, int64_t now_ns) const {
    return until_ns != 0 && until_ns >= Align(now_ns);
  }
  // Returns the first whole second at which a backoff that ends at `until_ns` is over.
  static int64_t TickAfter(int64_t until_ns) { return until_ns - until_ns % kSecond + kSecond; }

 private:
  static constexpr int64_t kSlowNs = 30 * kSecond;
  static constexpr int64_t kMaxSlowNs = 5 * kMinute;

  // Returns the duration after the failure with this number, counted from 1.
  static int64_t Doubled(int64_t first_ns, int64_t max_ns, uint32_t number) {
    const uint32_t doublings = number - 1;
    if (doublings >= 63 || first_ns > (max_ns >> doublings)) return max_ns;
    return first_ns << doublings;
  }
  // Returns the start of the window of `at_ns`; if there are no windows, returns `at_ns`.
  int64_t Align(int64_t at_ns) const { return has_windows_ ? at_ns - at_ns % kSecond : at_ns; }

  int64_t initial_ns_;
  int64_t max_ns_;
  bool has_windows_;
};

// When entities that have been parked for too long are flushed.
//
// Flushes are due every 30 s. A flush affects the entities that have then been parked for longer
// than a limit. Flushes that were missed are not made up for: only the latest one takes place.
// (kube-scheduler: scheduling_queue.go, flushUnschedulableEntitiesLeftover)
// Threading: the scheduling thread.
class FlushSchedule {
 public:
  // The first flush is due 30 s after `now_ns`. `limit_ns` is the longest time that an entity stays
  // parked.
  FlushSchedule(int64_t now_ns, int64_t limit_ns)
      : limit_ns_(limit_ns), next_ns_(now_ns + kPeriodNs) {}

  // Starts the latest flush that is due at `now_ns`. Returns the time before which an entity must
  // have been parked to be flushed; none if no flush is due.
  std::optional<int64_t> Start(int64_t now_ns) {
    if (now_ns < next_ns_) return std::nullopt;
    const int64_t at_ns = now_ns - (now_ns - next_ns_) % kPeriodNs;
    next_ns_ = at_ns + kPeriodNs;
    return at_ns - limit_ns_;
  }
  // Returns when an entity that was parked at `parked_ns` will be flushed.
  int64_t TimeFor(int64_t parked_ns) const {
    const int64_t late_ns = parked_ns + limit_ns_ - next_ns_;
    const int64_t rounds = late_ns < 0 ? 0 : late_ns / kPeriodNs + 1;
    return next_ns_ + rounds * kPeriodNs;
  }

 private:
  static constexpr int64_t kPeriodNs = 30 * kSecond;

  int64_t limit_ns_;
  int64_t next_ns_;  // When the next flush is due.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_BACKOFF_H_
