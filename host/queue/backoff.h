// How long a pod that was tried in vain waits before it is tried again.
#ifndef BERTH_HOST_QUEUE_BACKOFF_H_
#define BERTH_HOST_QUEUE_BACKOFF_H_

#include <cstdint>

#include "host/queue/queued_entity.h"

namespace berth::host {

// 1, 2, 4, 8, 10, 10 ... seconds, counted in errors in a row if the last attempt was one, otherwise
// in rejections.
//
// With windows, pods whose backoff ends within the same second are one window: they are ordered as
// QueueSort says and become ready together, when the second is over. A backoff of n seconds takes
// between n - 1 and n + 1.
//
// (kube-scheduler: pkg/scheduler/backend/queue/backoff_queue.go; windows: SchedulerPopFromBackoffQ)
class Backoff {
 public:
  // `max_ns` 0: no backoff at all.
  Backoff(int64_t initial_ns, int64_t max_ns, bool has_windows)
      : initial_ns_(initial_ns), max_ns_(max_ns), has_windows_(has_windows) {}

  // How long it is made to wait; 0: not at all.
  int64_t DurationNs(const QueuedEntity& entity) const;
  // When that ends, counted from queued_ns; 0: it does not wait.
  int64_t UntilNs(const QueuedEntity& entity) const;
  // Whether it still waits at `now_ns`. A backoff that ends now, or in this window, has not ended.
  bool IsOn(int64_t until_ns, int64_t now_ns) const;
  // The first whole second at which it does not.
  static int64_t TickAfter(int64_t until_ns);

 private:
  // The beginning of the window.
  int64_t Align(int64_t at_ns) const;

  int64_t initial_ns_;
  int64_t max_ns_;
  bool has_windows_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_BACKOFF_H_
