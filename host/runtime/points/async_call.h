// Calls of PreBind and Bind, whose answers may come later.
#ifndef BERTH_HOST_RUNTIME_POINTS_ASYNC_CALL_H_
#define BERTH_HOST_RUNTIME_POINTS_ASYNC_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/base/clock.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/guard/bind_pool.h"
#include "host/guard/point.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {

// The parts of the host that asynchronous calls use.
// Lifetime: must outlive the plan, since a plugin may complete a call until it is destroyed.
struct AsyncCalls {
  // Carries answers to the scheduling thread. Must be set.
  Inbox* inbox = nullptr;
  // Runs the calls of plugins with BERTH_PLUGIN_BLOCKS_IN_BIND. If null, they run on the scheduling
  // thread.
  TaskPool* pool = nullptr;
  // The timers of the scheduling thread and their clock. If null, no call has a deadline.
  TimerQueue* timers = nullptr;
  const Clock* clock = nullptr;
  // The maximum time until the answer, for plugins without a deadline of their own; 0 means no
  // limit. After this time the call is cancelled.
  // After twice this time without an answer, the call fails, a fault of the plugin is counted, and
  // the call's thread is abandoned. A call that gets no thread of the pool fails after four times
  // this time, or four times the plugin's own deadline if that is longer, without a fault.
  int64_t deadline_ns = 0;
};

// One call of PreBind or Bind, from the call to its answer. The plugin returns the answer or
// completes a promise; if it does both, the completion counts.
//
// A plugin may still work on a call that was abandoned. The objects that were passed to it
// stay alive (Binding::Keep), and its answer is ignored. The call may even outlast the plan; see
// Plan.
//
// Threading: the scheduling thread. Plugins with BERTH_PLUGIN_BLOCKS_IN_BIND are called on the
//            pool; their deadline starts when a thread takes the call.
// Lifetime:  the binding must outlive it. Its destruction before the answer abandons the call.
class AsyncCall {
 public:
  using Answered = std::function<void(PluginStatus status)>;

  // `point` is PreBind or Bind; `plugin` is an index into Plan::plugins().
  AsyncCall(Binding& binding, const AsyncCalls& calls, uint32_t plugin, Point point,
            Answered answered);
  ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  // Calls the plugin, and `answered` with the result of PointStatus(): exactly once, within Start()
  // or later. `answered` may destroy this object.
  void Start();

 private:
  struct Shared;
  using Kept = std::shared_ptr<const void>;

  void CallHere();
  static void RunOnPool(const std::shared_ptr<Shared>& shared, Kept kept);
  static void Release(const std::shared_ptr<Shared>& shared, Kept kept);
  static void PostAnswer(const std::shared_ptr<Shared>& shared, Kept kept, PluginAnswer answer);
  void StartTimer(int64_t at_ns);
  void OnTimer();
  void OnStillWaiting(int64_t now);
  // Prevents a queued call from being made. Returns false if it has begun or is over.
  bool DropIfQueued();
  void AbandonThread();
  static void AwaitReturn(const std::shared_ptr<Shared>& shared, TaskPool::TaskId task);
  void Finish(PluginStatus status);

  Binding& binding_;
  const AsyncCalls& calls_;
  const PlannedPlugin& plugin_;
  const uint32_t index_;
  const BindingCall kind_;
  Answered answered_;
  std::shared_ptr<Shared> shared_;  // Shared with the threads that may answer.
  TimerQueue::Id timer_ = 0;        // 0: none.
  int64_t started_ns_ = 0;
  TaskPool::TaskId task_ = 0;  // 0: the call does not run on the pool.
  bool is_overdue_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_ASYNC_CALL_H_
