// Calls under [bind] whose answer may come later: PreBind and Bind.
#ifndef BERTH_HOST_RUNTIME_ASYNC_CALL_H_
#define BERTH_HOST_RUNTIME_ASYNC_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/event/timer_queue.h"
#include "host/guard/point.h"
#include "host/runtime/binding.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// What such calls need of the process.
// Lifetime: longer than the plan, since a plugin may complete a call until it is destroyed.
struct AsyncCalls {
  // Runs a task on a thread of a pool, and says what it is called there; never 0. Empty: there is
  // none, and tasks run at once.
  std::function<uint64_t(std::function<void()> task)> on_pool = nullptr;
  // Nobody waits for the task any more: see BindPool::GiveUp. May be empty.
  std::function<void(uint64_t task)> give_up = nullptr;
  // Carries a task to the scheduling thread, from any; never carries it out within the call. Must
  // be set.
  std::function<void(std::function<void()> task)> post = nullptr;
  // The scheduling thread's; together with the two below. Null: no call has a deadline.
  TimerQueue* timers = nullptr;
  // The clock of `timers`. Threading: any.
  std::function<int64_t()> now_ns = nullptr;
  // How long an answer may take; then the call is cancelled and, after as long again without an
  // answer, failed and laid at the plugin's door, and its thread is given up. A call to which no
  // thread comes fails after four times as long, without a fault. 0: for ever.
  int64_t deadline_ns = 0;
};

// One such call, from the call to its answer, which the plugin returns or completes; where it does
// both, what it completes counts.
//
// A plugin that was given up may go on: it keeps what it was shown (Binding::Keep), and what it
// says is not heard. It may do so when the plan is long gone, and is then left alone: see Plan.
//
// Threading: the scheduling thread; plugins with BERTH_PLUGIN_BLOCKS_IN_BIND are called on a pool,
//            where their time begins when a thread has come to them.
// Lifetime:  the binding's, and no longer. Destroyed before its answer, it is given up.
class AsyncCall {
 public:
  using Answered = std::function<void(PluginStatus status)>;

  // `point`: PreBind or Bind; `plugin`: into Plan::plugins().
  AsyncCall(Binding& binding, const AsyncCalls& calls, uint32_t plugin, Point point,
            Answered answered);
  ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  // `answered` is called exactly once, within Start() or later, as PointStatus() has it. This call
  // may be destroyed there.
  void Start();

 private:
  struct Shared;
  using Kept = std::shared_ptr<const void>;
  using Reasons = std::vector<std::string>;

  void CallHere();
  static void RunOnPool(const std::shared_ptr<Shared>& shared, Kept kept);
  static void GiveBack(const std::shared_ptr<Shared>& shared, Kept kept);
  static void PostAnswer(const std::shared_ptr<Shared>& shared, Kept kept, berth_code code,
                         Reasons reasons);
  void StartTimer(int64_t at_ns);
  void OnTimer();
  void OnStillWaiting(int64_t now);
  // False: it has begun, or is over.
  bool Drop();
  void GiveUpThread();
  static void AwaitReturn(const std::shared_ptr<Shared>& shared, uint64_t task);
  void Finish(PluginStatus status);

  Binding& binding_;
  const AsyncCalls& calls_;
  const PlannedPlugin& plugin_;
  const uint32_t index_;
  Answered answered_;
  std::shared_ptr<Shared> shared_;  // With the threads that may answer.
  TimerQueue::Id timer_ = 0;        // 0: none.
  int64_t asked_ns_ = 0;
  uint64_t task_ = 0;  // On the pool; 0: it is not there.
  bool is_overdue_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ASYNC_CALL_H_
