// Timers of the scheduling thread.
#ifndef BERTH_HOST_EVENT_TIMER_QUEUE_H_
#define BERTH_HOST_EVENT_TIMER_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace berth::host {

// A queue of callbacks by time. The caller reads the clock.
// Threading: the scheduling thread.
class TimerQueue {
 public:
  using Id = uint64_t;  // Never 0; never reused.

  // Starts a timer that calls `fire` once, when `at_ns` has been reached. Timers of the same time
  // fire in the order of Start().
  Id Start(int64_t at_ns, std::function<void()> fire);
  // Cancels the timer. Returns false if it has fired, was cancelled before, or never existed.
  bool Cancel(Id timer);

  // Fires the timers that are due at `now_ns`, and returns their number. A timer started by a
  // callback waits for the next call; a timer cancelled by a callback does not fire.
  size_t RunDue(int64_t now_ns);
  // Returns when the next timer is due; none if there is no timer.
  std::optional<int64_t> NextNs() const;
  size_t size() const { return timers_.size(); }

 private:
  using Key = std::pair<int64_t, Id>;

  Id last_ = 0;
  std::map<Key, std::function<void()>> timers_;
  std::unordered_map<Id, int64_t> at_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_TIMER_QUEUE_H_
