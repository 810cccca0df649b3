// Waits for the end of work on several threads.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_STOP_LATCH_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_STOP_LATCH_H_

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace berth::host {

// Each piece of work holds a token. Work that is dropped, because its executor has ended, releases
// its token as well, so that Wait() does not wait for it.
// Threading: any.
// Lifetime:  a shared_ptr owns it; the tokens share it.
class StopLatch : public std::enable_shared_from_this<StopLatch> {
 public:
  StopLatch() = default;
  StopLatch(const StopLatch&) = delete;
  StopLatch& operator=(const StopLatch&) = delete;

  // The work has ended when the last copy of the token was destroyed.
  std::shared_ptr<void> NewToken() {
    const std::scoped_lock lock(mutex_);
    ++open_;
    return {nullptr, [self = shared_from_this()](void*) { self->Release(); }};
  }
  bool is_done() const {
    const std::scoped_lock lock(mutex_);
    return open_ == 0;
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
  }

 private:
  void Release() {
    const std::scoped_lock lock(mutex_);
    --open_;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t open_ = 0;  // Guarded by mutex_.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_STOP_LATCH_H_
