// What is to be done later, on the scheduling thread.
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

// Timers on a clock that somebody else reads.
// Threading: the scheduling thread.
class TimerQueue {
 public:
  using Id = uint64_t;  // Never 0; never given out twice.

  // Calls `fire` once when the time has come. Timers of one moment fire in the order of Start().
  Id Start(int64_t at_ns, std::function<void()> fire);
  // False: it has fired, was cancelled, or never was.
  bool Cancel(Id timer);

  // Fires what is due at `now_ns`, and returns how many that were. What a timer starts waits for
  // the next call; what it cancels does not fire.
  size_t RunDue(int64_t now_ns);
  // When the next one is due.
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
