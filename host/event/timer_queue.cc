#include "host/event/timer_queue.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

TimerQueue::Id TimerQueue::Start(int64_t at_ns, std::function<void()> fire) {
  BERTH_ASSERT(fire);
  const Id timer = ++last_;
  timers_.emplace(Key(at_ns, timer), std::move(fire));
  at_.emplace(timer, at_ns);
  return timer;
}

bool TimerQueue::Cancel(Id timer) {
  const auto found = at_.find(timer);
  if (found == at_.end()) return false;
  // Destroy the callback last: its captures may hold the last reference to an object that cancels
  // further timers.
  const auto node = timers_.extract(Key(found->second, timer));
  at_.erase(found);
  return true;
}

size_t TimerQueue::RunDue(int64_t now_ns) {
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

std::optional<int64_t> TimerQueue::NextNs() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

}  // namespace berth::host
