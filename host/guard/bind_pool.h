// Threads on which plugins may block in PreBind and Bind.
#ifndef BERTH_HOST_GUARD_BIND_POOL_H_
#define BERTH_HOST_GUARD_BIND_POOL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace berth::host {

// Runs tasks that may block, on threads of its own.
class TaskPool {
 public:
  using TaskId = uint64_t;  // Never 0.

  virtual ~TaskPool() = default;

  // Threading: any. `task` must not throw.
  virtual TaskId Run(std::function<void()> task) = 0;
  // Stops waiting for a task: one that has not begun is destroyed, on the calling thread; one that
  // runs keeps its thread, and the pool starts another thread in its place. Does nothing for a task
  // that has ended. Threading: any.
  virtual void Abandon(TaskId task) = 0;
};

// Runs tasks in the order of the calls of Run(), as many at a time as it has threads.
//
// A task may never end. When its caller stops waiting and abandons it, another thread replaces the
// thread of the task. The objects that an abandoned task holds live until the task ends, even if
// that is after the destruction of the pool.
//
// Threading: created and destroyed on one thread.
// Lifetime:  shorter than the plans whose plugins run on it. The destructor waits for running
//            tasks, at most for `shutdown_timeout`, and destroys tasks that have not begun.
class BindPool final : public TaskPool {
 public:
  // How many abandoned threads may run at a time; beyond that, one must end before the pool
  // replaces the next.
  static constexpr size_t kMaxAbandoned = 64;

  // `threads`: at least 1.
  explicit BindPool(size_t threads,
                    std::chrono::nanoseconds shutdown_timeout = std::chrono::seconds(5));
  ~BindPool() override;
  BindPool(const BindPool&) = delete;
  BindPool& operator=(const BindPool&) = delete;

  TaskId Run(std::function<void()> task) override;
  void Abandon(TaskId task) override;

 private:
  struct Shared;

  // The threads and tasks; shared with every thread.
  std::shared_ptr<Shared> shared_;
  const std::chrono::nanoseconds shutdown_timeout_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_BIND_POOL_H_
