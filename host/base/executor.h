// Runs tasks one after the other, now or at a time. The code that talks to an API server never
// blocks and never reads a clock by itself: it posts tasks to an executor. Production uses a thread
// with Boost.Asio (http/io_thread.h); simulations and unit tests use virtual
// time.
#ifndef BERTH_HOST_BASE_EXECUTOR_H_
#define BERTH_HOST_BASE_EXECUTOR_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace berth::host {

// Threading: tasks run on one thread, the executor's, one at a time. Post(), NowNs() and
//            IsCurrent() may be called from any thread; StartTimer() and CancelTimer() only on the
//            executor's thread.
// Lifetime:  tasks that have not run when the executor is destroyed are destroyed without being
//            run. The objects that a task refers to must live until then.
class Executor {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;  // Never 0; never reused.

  virtual ~Executor() = default;

  // Runs `task` later, never within the call. Tasks of one caller run in the order of the calls.
  virtual void Post(Task task) = 0;
  // Runs `task` once, when NowNs() has reached `at_ns`. Timers of the same time run in the order of
  // the calls.
  virtual TimerId StartTimer(int64_t at_ns, Task task) = 0;
  // Returns false if the timer has run, was cancelled before, or never existed. A cancelled task
  // does not run, not even if its time had already come.
  virtual bool CancelTimer(TimerId timer) = 0;
  // Returns a monotonic time in nanoseconds with an arbitrary start.
  virtual int64_t NowNs() const = 0;
  // Returns whether the caller is on the executor's thread.
  virtual bool IsCurrent() const = 0;
};

// A timer that is cancelled when the object is destroyed or started again.
// Threading: the executor's thread.
// Lifetime:  the executor must outlive it.
class OwnedTimer {
 public:
  explicit OwnedTimer(Executor& executor) : executor_(executor) {}
  ~OwnedTimer() { Stop(); }
  OwnedTimer(const OwnedTimer&) = delete;
  OwnedTimer& operator=(const OwnedTimer&) = delete;

  void StartAt(int64_t at_ns, Executor::Task task) {
    Stop();
    timer_ = executor_.StartTimer(at_ns, [this, task = std::move(task)] {
      timer_ = 0;
      task();
    });
  }
  void StartAfter(int64_t delay_ns, Executor::Task task) {
    const int64_t now_ns = executor_.NowNs();
    StartAt(now_ns + std::min(delay_ns, INT64_MAX - now_ns), std::move(task));
  }
  void Stop() {
    if (timer_ != 0) executor_.CancelTimer(std::exchange(timer_, 0));
  }
  bool is_running() const { return timer_ != 0; }

 private:
  Executor& executor_;
  Executor::TimerId timer_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_EXECUTOR_H_
