// A pool of threads in virtual time.
#ifndef BERTH_TESTS_SIMULATION_DELAYED_POOL_H_
#define BERTH_TESTS_SIMULATION_DELAYED_POOL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "host/base/clock.h"
#include "host/guard/bind_pool.h"
#include "tests/simulation/random.h"

namespace berth::host {

// A pool whose threads take up each task after a random delay. Tasks are never abandoned.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the pool.
class DelayedPool final : public TaskPool {
 public:
  DelayedPool(const Clock& clock, Random& random) : clock_(clock), random_(random) {}

  TaskId Run(std::function<void()> task) override {
    tasks_.emplace(clock_.NowNs() + random_.Delay(10 * kSecond), std::move(task));
    return 1;
  }
  void Abandon(TaskId) override {}

  // Runs the next task that is due. Returns false if there is none.
  bool RunOne() {
    if (tasks_.empty() || tasks_.begin()->first > clock_.NowNs()) return false;
    const std::function<void()> task = std::move(tasks_.extract(tasks_.begin()).mapped());
    task();
    return true;
  }
  // Returns when the next task is due; nullopt if there is none.
  std::optional<int64_t> NextNs() const {
    return tasks_.empty() ? std::nullopt : std::optional(tasks_.begin()->first);
  }
  void Clear() { tasks_.clear(); }

 private:
  const Clock& clock_;
  Random& random_;
  std::multimap<int64_t, std::function<void()>> tasks_;  // Keyed by the time at which they run.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_DELAYED_POOL_H_
