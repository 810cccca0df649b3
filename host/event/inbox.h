// The one door to the scheduling thread: whatever happens on other threads is put in here and
// carried out over there, one after the other.
#ifndef BERTH_HOST_EVENT_INBOX_H_
#define BERTH_HOST_EVENT_INBOX_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace berth::host {

// Wakes the owner of an inbox.
class Waker {
 public:
  virtual ~Waker() = default;

  // Called:    when something came into an inbox that was empty.
  // Threading: any.
  // Must not:  block, nor drain the inbox.
  virtual void Wake() = 0;
};

// Sleep for a thread whose work comes from an inbox. A Wake() while nobody waits is kept for the
// next Wait(), so that nothing is slept through.
class ThreadWaker final : public Waker {
 public:
  void Wake() override;

  // Returns true when woken, at once if that was since the last Wait(); false after `timeout_ns`,
  // or at once if that is not positive.
  // Threading: one thread.
  bool Wait(int64_t timeout_ns);

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

// Many threads push, one drains. Tasks are carried out in the order of the pushes, each once; those
// that nobody drains are dropped with the inbox.
// Lifetime: what the tasks refer to must live until they are drained or the inbox is gone.
class Inbox {
 public:
  using Task = std::function<void()>;

  // `waker`: null where the owner needs none, as in a simulation. Otherwise it outlives the inbox.
  explicit Inbox(Waker* waker) : waker_(waker) {}
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Threading: any. The task must not be empty.
  void Push(Task task);

  // Carries out what is there now and returns how many tasks that was. What they push waits for the
  // next call, so that a busy sender cannot keep the owner from its own work.
  // Threading: the owner's thread.
  // Must not: be called from within a task.
  size_t Drain();

  // Tasks that wait. Threading: any.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  Waker* const waker_;
  std::mutex mutex_;
  std::vector<Task> tasks_;
  std::atomic<size_t> size_{0};
  std::vector<Task> draining_;  // Of the owner's thread. Keeps its capacity.
  bool is_draining_ = false;
};

// A callback that may be called on any thread and carries out `answer` on the inbox's: for the
// answers of a Client. An empty one stays empty.
// Lifetime: the inbox outlives it.
template <class R>
std::function<void(R)> OnInbox(Inbox& inbox, std::function<void(R)> answer) {
  if (!answer) return nullptr;
  return [&inbox, answer = std::move(answer)](R result) {
    inbox.Push([answer, result = std::move(result)]() mutable { answer(std::move(result)); });
  };
}

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_INBOX_H_
