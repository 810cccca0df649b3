// The inbox of the scheduling thread: other threads push tasks, and the scheduling thread runs them
// one after the other.
#ifndef BERTH_HOST_EVENT_INBOX_H_
#define BERTH_HOST_EVENT_INBOX_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace berth::host {

// Wakes the owner of an inbox.
class Waker {
 public:
  virtual ~Waker() = default;

  // Called:    when a task is pushed into an empty inbox.
  // Threading: any.
  // Must not:  block, nor drain the inbox.
  virtual void Wake() = 0;
};

// Lets a thread sleep whose work comes from an inbox. A Wake() while the thread does not wait is
// kept for the next Wait(), so that no wake-up is lost.
class ThreadWaker final : public Waker {
 public:
  void Wake() override;

  // Waits for Wake(). Returns true when woken, immediately if Wake() was called since the last
  // Wait(). Returns false after `timeout_ns`, immediately if it is not positive.
  // Threading: one thread.
  bool Wait(int64_t timeout_ns);
  // Sleeps for the time, whether woken or not; see WakePacer. A Wake() is kept for the next Wait().
  // Threading: the thread of Wait().
  void Pause(int64_t time_ns);

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

// A queue of tasks that many threads push and one thread, the owner, drains. Each task runs once,
// in the order of the pushes. Tasks that were not drained are dropped with the inbox.
// Lifetime: objects that the tasks refer to must live until the tasks are drained or the inbox is
// destroyed.
class Inbox {
 public:
  using Task = std::function<void()>;

  // `waker` is null if the owner does not sleep, as in a simulation. Otherwise it must outlive the
  // inbox.
  explicit Inbox(Waker* waker) : waker_(waker) {}

  // Adds a task, which must not be empty. Threading: any.
  void Push(Task task);

  // Runs the tasks that are in the inbox now and returns their number. Tasks that they push wait
  // for the next call, so that a busy sender cannot keep the owner from its other work.
  // Threading: the owner's thread.
  // Must not: be called from within a task.
  size_t Drain();

  // Returns the number of waiting tasks. Threading: any.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  Waker* const waker_;
  std::mutex mutex_;
  std::vector<Task> tasks_;
  std::atomic<size_t> size_{0};
  std::vector<Task> draining_;  // Used by the owner's thread only. Keeps its capacity.
  bool is_draining_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_INBOX_H_
