// Keeps a busy thread from being woken for each piece of its work.
#ifndef BERTH_HOST_BASE_WAKE_PACER_H_
#define BERTH_HOST_BASE_WAKE_PACER_H_

#include <cstdint>
#include <limits>

namespace berth::host {

// Decides how long a thread that has done its work pauses before it waits for more. To wake a
// thread costs the waker and the thread some microseconds each, which is more than many pieces of
// work cost. During the pause, no sender needs to wake it, and what has arrived is done together.
//
// A thread that was woken after a quiet time does not pause, so that a piece of work that arrives
// alone is never late. Under load, work is late by at most the interval.
//
// Threading: one thread at a time.
class WakePacer {
 public:
  // Called: when the thread has something to do after it had nothing. `now_ns`: a monotonic time.
  // `interval_ns`: from now on, at most about one wake-up in this time; 0: no pause.
  void OnWake(int64_t now_ns, int64_t interval_ns) {
    is_busy_ = now_ns - woken_ns_ < interval_ns;
    woken_ns_ = now_ns;
    interval_ns_ = interval_ns;
  }
  // Returns how long to pause from `now_ns` on, before the next wait; 0: not at all.
  int64_t PauseNs(int64_t now_ns) const {
    const int64_t left_ns = woken_ns_ + interval_ns_ - now_ns;
    return is_busy_ && left_ns > 0 ? left_ns : 0;
  }

 private:
  int64_t interval_ns_ = 0;
  int64_t woken_ns_ = std::numeric_limits<int64_t>::min() / 2;  // Long ago.
  bool is_busy_ = false;  // The last two wake-ups were within the interval.
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_WAKE_PACER_H_
