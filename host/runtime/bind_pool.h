// Threads for plugins that block in PreBind and Bind.
#ifndef BERTH_HOST_RUNTIME_BIND_POOL_H_
#define BERTH_HOST_RUNTIME_BIND_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace berth::host {

// Runs tasks in the order in which they come, as many at a time as it has threads.
// Threading: made and destroyed on one thread.
// Lifetime:  shorter than the plans whose plugins are called on it, since a call that has begun is
//            waited for; what has not begun is dropped.
class BindPool {
 public:
  // `threads`: at least 1.
  explicit BindPool(size_t threads);
  ~BindPool();
  BindPool(const BindPool&) = delete;
  BindPool& operator=(const BindPool&) = delete;

  // Threading: any. `task` must not throw.
  void Run(std::function<void()> task);

 private:
  class Threads;

  std::unique_ptr<Threads> threads_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_BIND_POOL_H_
