#include "tests/harness/virtual_executor.h"

#include "host/base/assert.h"

namespace berth::host {

Executor::TimerId VirtualExecutor::StartTimer(int64_t at_ns, Task task) {
  const TimerId timer = ++last_;
  timers_.emplace(std::pair(at_ns, timer), std::move(task));
  return timer;
}

bool VirtualExecutor::CancelTimer(TimerId timer) {
  for (auto it = timers_.begin(); it != timers_.end(); ++it) {
    if (it->first.second != timer) continue;
    // The destructor of the task may start or cancel timers, so that the map must be consistent
    // when the task is destroyed.
    const Task cancelled = std::move(it->second);
    timers_.erase(it);
    return true;
  }
  return false;
}

bool VirtualExecutor::RunOne() {
  if (!tasks_.empty()) {
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }
  if (timers_.empty() || timers_.begin()->first.first > NowNs()) return false;
  const Task task = std::move(timers_.begin()->second);
  timers_.erase(timers_.begin());
  task();
  return true;
}

size_t VirtualExecutor::RunAll() {
  // A task that posts itself for ever is a defect of the test; the limit makes it visible.
  constexpr size_t kMaxRuns = 100'000'000;
  size_t runs = 0;
  while (RunOne()) BERTH_ASSERT(++runs < kMaxRuns);
  return runs;
}

void VirtualExecutor::Discard() {
  while (!tasks_.empty() || !timers_.empty()) {
    const auto tasks = std::exchange(tasks_, {});
    const auto timers = std::exchange(timers_, {});
  }
}

std::optional<int64_t> VirtualExecutor::NextNs() const {
  BERTH_ASSERT(tasks_.empty());
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

}  // namespace berth::host
