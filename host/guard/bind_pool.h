// Threads for plugins that block in PreBind and Bind.
#ifndef BERTH_HOST_GUARD_BIND_POOL_H_
#define BERTH_HOST_GUARD_BIND_POOL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace berth::host {

// Runs tasks in the order in which they come, as many at a time as it has threads.
//
// A task may never end: who waits no more says so, and its thread is replaced. What such a task
// holds lives until it ends, be it after the pool.
//
// Threading: made and destroyed on one thread.
// Lifetime:  shorter than the plans whose plugins are called on it. A task that has begun is waited
//            for, at most for as long as the pool's patience lasts; what has not begun is dropped.
class BindPool {
 public:
  using TaskId = uint64_t;  // Never 0.

  // Threads that were given up and have not ended; beyond that one must end before the next is
  // replaced.
  static constexpr size_t kMaxLost = 64;

  // `threads`: at least 1.
  explicit BindPool(size_t threads, std::chrono::nanoseconds patience = std::chrono::seconds(5));
  ~BindPool();
  BindPool(const BindPool&) = delete;
  BindPool& operator=(const BindPool&) = delete;

  // Threading: any. `task` must not throw.
  TaskId Run(std::function<void()> task);
  // Nobody waits for the task any more: one that has not begun is dropped, here; one that is under
  // way keeps its thread, and another one takes that one's place. Nothing happens to one that has
  // ended. Threading: any.
  void GiveUp(TaskId task);

 private:
  struct Shared;

  // Which threads and tasks there are: the pool's, and every thread's.
  std::shared_ptr<Shared> shared_;
  const std::chrono::nanoseconds patience_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_BIND_POOL_H_
