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

#include "host/base/assert.h"

namespace berth::host {

// A queue of callbacks by time. The caller reads the clock.
// Threading: the scheduling thread.
class TimerQueue {
 public:
  using Id = uint64_t;  // Never 0; never reused.

  // Starts a timer that calls `fire` once, when `at_ns` has been reached. Timers of the same time
  // fire in the order of Start().
  Id Start(int64_t at_ns, std::function<void()> fire) {
    BERTH_ASSERT(fire);
    const Id timer = ++last_;
    timers_.emplace(Key(at_ns, timer), std::move(fire));
    at_.emplace(timer, at_ns);
    return timer;
  }
  // Cancels the timer. Returns false if it has fired, was cancelled before, or never existed.
  bool Cancel(Id timer) {
    const auto found = at_.find(timer);
    if (found == at_.end()) return false;
    // Destroy the callback last: its captures may hold the last reference to an object that cancels
    // further timers.
    const auto node = timers_.extract(Key(found->second, timer));
    at_.erase(found);
    return true;
  }

  // Fires the timers that are due at `now_ns`, and returns their number. A timer started by a
  // callback waits for the next call; a timer cancelled by a callback does not fire.
  size_t RunDue(int64_t now_ns) {
    const Id last = last_;
    size_t fired = 0;
    auto next = timers_.begin();
    while (next != timers_.end() && next->first.first <= now_ns) {
      const Key key = next->first;
      if (key.second > last) {  // Started by a callback of this call.
        ++next;
        continue;
      }
      const auto node = timers_.extract(next);
      at_.erase(key.second);
      node.mapped()();
      ++fired;
      // The callback may have started or cancelled timers: continue after this timer's key.
      next = timers_.upper_bound(key);
    }
    return fired;
  }
  // Returns when the next timer is due; none if there is no timer.
  std::optional<int64_t> NextNs() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
  }
  size_t size() const { return timers_.size(); }

 private:
  using Key = std::pair<int64_t, Id>;

  Id last_ = 0;
  std::map<Key, std::function<void()>> timers_;
  std::unordered_map<Id, int64_t> at_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_TIMER_QUEUE_H_
