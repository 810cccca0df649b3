// An executor in virtual time, for unit tests and simulations.
#ifndef BERTH_TESTS_HARNESS_VIRTUAL_EXECUTOR_H_
#define BERTH_TESTS_HARNESS_VIRTUAL_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "host/base/clock.h"
#include "host/base/executor.h"

namespace berth::host {

// The owner runs tasks and advances the clock. All executors of a simulation may share one object.
// Threading: one thread.
class VirtualExecutor final : public Executor {
 public:
  // Time is that of `clock`, which the owner of the simulation advances.
  explicit VirtualExecutor(const Clock& clock) : clock_(clock) {}
  // As Discard().
  ~VirtualExecutor() override { Discard(); }
  VirtualExecutor(const VirtualExecutor&) = delete;
  VirtualExecutor& operator=(const VirtualExecutor&) = delete;

  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId StartTimer(int64_t at_ns, Task task) override;
  bool CancelTimer(TimerId timer) override;
  int64_t NowNs() const override { return clock_.NowNs(); }
  bool IsCurrent() const override { return true; }

  // Runs one task or one timer that is due. Returns false if there is none.
  bool RunOne();
  // Runs until nothing is due. Returns how many ran.
  size_t RunAll();
  // Destroys all tasks and timers without running them, also those that their destructors add.
  void Discard();
  // Returns when the next timer is due; nullopt if there is none. REQUIRES: RunOne() returned
  // false.
  std::optional<int64_t> NextNs() const;

 private:
  const Clock& clock_;
  std::deque<Task> tasks_;
  std::map<std::pair<int64_t, TimerId>, Task> timers_;
  TimerId last_ = 0;
};

// Advances the clock by `ns`, and runs every task and timer at its time.
// REQUIRES: `clock` is the clock of the executor.
template <class AdvanceableClock>
void Advance(VirtualExecutor& executor, AdvanceableClock& clock, int64_t ns) {
  const int64_t end = clock.NowNs() + ns;
  executor.RunAll();
  for (auto next = executor.NextNs(); next && *next <= end; next = executor.NextNs()) {
    if (*next > clock.NowNs()) clock.AdvanceTo(*next);
    executor.RunAll();
  }
  clock.AdvanceTo(end);
}

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_VIRTUAL_EXECUTOR_H_
