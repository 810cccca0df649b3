#include "host/event/inbox.h"

#include <chrono>
#include <thread>
#include <utility>

#include "host/base/assert.h"
#include "host/base/time_units.h"

namespace berth::host {

void ThreadWaker::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  condition_.notify_one();
}

bool ThreadWaker::Wait(int64_t timeout_ns) {
  // Limits the timeout: a very long one would overflow the clock.
  constexpr int64_t kLongest = 24 * kHour;
  if (timeout_ns > kLongest) timeout_ns = kLongest;
  std::unique_lock lock(mutex_);
  if (timeout_ns > 0) {
    condition_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [this] { return woken_; });
  }
  return std::exchange(woken_, false);
}

void ThreadWaker::Pause(int64_t time_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time_ns));
}

void Inbox::Push(Task task) {
  BERTH_ASSERT(task);
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = tasks_.empty();
    tasks_.push_back(std::move(task));
    size_.store(tasks_.size(), std::memory_order_relaxed);
  }
  if (was_empty && waker_ != nullptr) waker_->Wake();
}

size_t Inbox::Drain() {
  BERTH_ASSERT_MSG(!is_draining_, "a task must not drain the inbox that runs it");
  {
    const std::lock_guard lock(mutex_);
    tasks_.swap(draining_);
    size_.store(0, std::memory_order_relaxed);
  }
  is_draining_ = true;
  const size_t count = draining_.size();
  for (Task& task : draining_) {
    task();
    task = nullptr;  // Release what the task holds before the next task runs.
  }
  draining_.clear();
  is_draining_ = false;
  return count;
}

}  // namespace berth::host
