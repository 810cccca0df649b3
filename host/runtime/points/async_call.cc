#include "host/runtime/points/async_call.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/plan/instance_host.h"

namespace berth::host {
namespace {

constexpr int64_t kNotBegun = INT64_MIN;

// How many deadlines a call waits for a thread of the pool. A call that hangs is abandoned, and its
// thread replaced, after two.
constexpr int64_t kWaitDeadlines = 4;

// The shortest time after which the scheduling thread looks again whether a thread took the call.
constexpr int64_t kMinWaitNs = 10 * kMillisecond;

// The state of a call on the pool, on which its thread and the scheduling thread agree. kAbandoned:
// the scheduling thread no longer waits for its return. kDropped: it will not be made.
enum class RunState : uint8_t { kQueued, kRunning, kReturned, kAbandoned, kDropped };

}  // namespace

struct AsyncCall::Shared {
  const AsyncCalls& calls;
  const PlannedPlugin& plugin;
  const PluginInstance& instance;
  const std::shared_ptr<InstanceHost> host;
  // The call may outlive the monitor. Null: there is no monitor.
  const std::shared_ptr<CallMonitor::Threads> threads;
  const Point point;
  berth_done done = {nullptr, 0};  // Its id is 0 until the call has begun.
  std::atomic<int64_t> began_ns = kNotBegun;
  std::atomic<RunState> run = RunState::kQueued;
  berth_binding* const binding;
  uint32_t* const cancel;
  const int64_t deadline_ns;  // 0: none.
  // Used by the scheduling thread only:
  AsyncCall* call;  // Null after the call was answered or destroyed.
  // The timer that runs while a call has been answered but has not returned, or 0.
  TimerQueue::Id return_timer = 0;

  bool HasDeadline() const { return calls.timers != nullptr && deadline_ns > 0; }
  // Returns false and changes nothing if the state is not `from`.
  bool Transition(RunState from, RunState to) { return run.compare_exchange_strong(from, to); }
  // Starts the time of the call. Called: on the thread that calls the plugin.
  void Begin() {
    const int64_t now = HasDeadline() ? calls.clock->NowNs() : 0;
    if (HasDeadline()) {
      binding->call_deadline_ns = binding->completion_deadline_ns = now + deadline_ns;
    }
    began_ns.store(now, std::memory_order_relaxed);
  }
  berth_code Call(const PluginInstance& callee, berth_status* status) const {
    return point == Point::kBind
               ? callee.bind()->bind(callee.self(), binding, done, status)
               : callee.pre_bind()->pre_bind(callee.self(), binding, done, status);
  }
  // Returns true if the returned code is the answer, and false if the promise carries the answer.
  bool IsAnswer(berth_code code) const {
    return code != BERTH_PENDING && host->promises()->Close(done.id);
  }
};

AsyncCall::AsyncCall(Binding& binding, const AsyncCalls& calls, uint32_t plugin, Point point,
                     Answered answered)
    : binding_(binding),
      calls_(calls),
      plugin_(binding.plan().plugins()[plugin]),
      index_(plugin),
      kind_(point == Point::kBind ? BindingCall::kBind : BindingCall::kPreBind),
      answered_(std::move(answered)),
      shared_(new Shared{.calls = calls,
                         .plugin = plugin_,
                         .instance = *plugin_.instance,
                         .host = plugin_.host,
                         .threads = plugin_.host->context().monitor != nullptr
                                        ? plugin_.host->context().monitor->threads()
                                        : nullptr,
                         .point = point,
                         .binding = binding.AbiFor(plugin, kind_),
                         .cancel = binding.CancelWordOf(plugin, kind_),
                         .deadline_ns = plugin_.host->deadline_ns() != 0
                                            ? plugin_.host->deadline_ns()
                                            : calls.deadline_ns,
                         .call = this}) {
  BERTH_ASSERT(calls.inbox != nullptr);
}

AsyncCall::~AsyncCall() {
  shared_->call = nullptr;
  plugin_.host->promises()->DisallowBind(shared_->done.id);
  DropIfQueued();
  if (timer_ != 0) calls_.timers->Cancel(timer_);
}

void AsyncCall::Start() {
  if (auto error = QuarantineError(plugin_, shared_->point)) return Finish(std::move(*error));
  // The thread that completes the promise posts the answer.
  const Promises::Id id = plugin_.host->promises()->Open(
      [shared = shared_, kept = binding_.Keep()](berth_code code,
                                                 std::vector<std::string> reasons) mutable {
        PostAnswer(shared, std::move(kept), {.code = code, .reasons = std::move(reasons)});
      },
      shared_->point == Point::kBind ? Promises::Kind::kBind : Promises::Kind::kOther);
  shared_->done = {plugin_.host->abi(), id};
  if (shared_->HasDeadline()) {
    started_ns_ = calls_.clock->NowNs();
    StartTimer(started_ns_ + shared_->deadline_ns);
  }
  if (plugin_.instance->info().blocks_in_bind && calls_.pool != nullptr) {
    task_ = calls_.pool->Run([shared = shared_, kept = binding_.Keep()]() mutable {
      RunOnPool(shared, std::move(kept));
    });
    return;
  }
  CallHere();
}

// Makes the call on the scheduling thread, where its deadline is the earlier of that of a call and
// that of the answer.
void AsyncCall::CallHere() {
  shared_->Begin();
  int64_t& due = shared_->binding->call_deadline_ns;
  const int64_t call_due = DeadlineNs(*plugin_.host, shared_->point);
  if (call_due != 0 && (due == 0 || call_due < due)) due = call_due;
  PluginAnswer answer = Invoke(
      plugin_, shared_->point,
      [this](auto& instance, berth_status* status) { return shared_->Call(instance, status); },
      {.pod = shared_->binding->pod, .cancel = shared_->cancel});
  if (!shared_->IsAnswer(answer.code)) return;
  Finish(PointStatus(plugin_, shared_->point, std::move(answer)));
}

// --- On the pool ---------------------------------------------------------------------------------

// The call may outlast the pool, the plan and the scheduling loop. Then the host retains what the
// call holds, because slots and objects may only be destroyed on the scheduling thread.
// Threading: a thread of the pool.
void AsyncCall::RunOnPool(const std::shared_ptr<Shared>& shared, Kept kept) {
  InstanceHost& host = *shared->host;
  std::optional<PluginCall> call;
  {
    const HostUse world(host);
    if (!world || host.is_closed()) return host.Retain(std::move(kept));
    if (BERTH_IS_CANCELLED(shared->binding) ||
        !shared->Transition(RunState::kQueued, RunState::kRunning)) {
      const bool open = host.promises()->Close(shared->done.id);
      return open ? PostAnswer(shared, std::move(kept),
                               {BERTH_CANCELLED, {"cancelled before it was called"}})
                  : Release(shared, std::move(kept));
    }
    host.BeginCall();
    shared->Begin();
    call.emplace(host, shared->point, CallTerms{.pod = shared->binding->pod, .may_block = true});
  }
  PluginAnswer answer =
      CallWithStatus([&](berth_status* status) { return shared->Call(shared->instance, status); });
  const HostUse world(host);
  host.EndCall();
  const bool was_abandoned = shared->run.exchange(RunState::kReturned) == RunState::kAbandoned;
  if (was_abandoned && shared->threads != nullptr) shared->threads->EndAbandoned();
  if (!world) {
    call->Detach();
    return host.Retain(std::move(kept));
  }
  call.reset();
  if (!shared->IsAnswer(answer.code)) {
    // The promises of a closed host keep nothing alive, but the plugin may still use the binding.
    return host.is_closed() ? host.Retain(std::move(kept)) : Release(shared, std::move(kept));
  }
  PostAnswer(shared, std::move(kept), std::move(answer));
}

// Releases `kept` on the scheduling thread: it may be the last reference to slots.
void AsyncCall::Release(const std::shared_ptr<Shared>& shared, Kept kept) {
  shared->calls.inbox->Push([shared, kept = std::move(kept)]() mutable {
    kept.reset();
    if (shared->return_timer == 0) return;
    shared->calls.timers->Cancel(std::exchange(shared->return_timer, 0));
  });
}

// Threading: any.
void AsyncCall::PostAnswer(const std::shared_ptr<Shared>& shared, Kept kept, PluginAnswer answer) {
  shared->calls.inbox->Push([shared, kept = std::move(kept), answer = std::move(answer)]() mutable {
    // First, so that the callback holds the last reference to the binding.
    kept.reset();
    if (shared->call == nullptr) return;
    shared->call->Finish(PointStatus(shared->plugin, shared->point, std::move(answer)));
  });
}

// --- The deadline --------------------------------------------------------------------------------

void AsyncCall::StartTimer(int64_t at_ns) {
  timer_ = calls_.timers->Start(at_ns, [this] {
    timer_ = 0;
    OnTimer();
  });
}

void AsyncCall::OnTimer() {
  const int64_t now = calls_.clock->NowNs();
  const int64_t began = shared_->began_ns.load(std::memory_order_relaxed);
  if (began == kNotBegun) return OnStillWaiting(now);
  const int64_t due = began + shared_->deadline_ns * (is_overdue_ ? 2 : 1);
  if (now < due) return StartTimer(due);
  if (!is_overdue_) {
    is_overdue_ = true;
    binding_.CancelCall(index_, kind_);
    return StartTimer(now + shared_->deadline_ns);
  }
  const std::string why = "no answer within " + FormatDuration(now - began);
  plugin_.host->NoteFault(shared_->point, FaultKind::kDeadline, why);
  AbandonThread();
  Finish(PluginError(plugin_, shared_->point, why));
}

// A call that waits for a thread of the pool is no fault of the plugin, and waits for calls of
// plugins with other deadlines.
void AsyncCall::OnStillWaiting(int64_t now) {
  const int64_t longest = std::max(shared_->deadline_ns, calls_.deadline_ns);
  const int64_t end = started_ns_ + kWaitDeadlines * longest;
  if (now < end) {
    return StartTimer(std::min(now + std::max(shared_->deadline_ns, kMinWaitNs), end));
  }
  // If a thread has just taken the call, the call gets its full deadline.
  if (!DropIfQueued()) return StartTimer(now + shared_->deadline_ns);
  AbandonThread();
  plugin_.host->promises()->Close(shared_->done.id);
  Finish(PluginError(
      plugin_, shared_->point,
      "no thread of the bind pool became free within " + FormatDuration(now - started_ns_)));
}

bool AsyncCall::DropIfQueued() {
  return shared_->Transition(RunState::kQueued, RunState::kDropped);
}

void AsyncCall::AbandonThread() {
  plugin_.host->promises()->DisallowBind(shared_->done.id);
  if (task_ == 0) return;
  CallMonitor* monitor = plugin_.host->context().monitor;
  if (shared_->Transition(RunState::kRunning, RunState::kAbandoned) && monitor != nullptr)
    monitor->BeginAbandoned();
  calls_.pool->Abandon(task_);
}

// Abandons the thread of a call that completed its promise, if its function does not return in
// time.
void AsyncCall::AwaitReturn(const std::shared_ptr<Shared>& shared, TaskPool::TaskId task) {
  const AsyncCalls& calls = shared->calls;
  shared->return_timer =
      calls.timers->Start(calls.clock->NowNs() + shared->deadline_ns, [shared, task, &calls] {
        shared->return_timer = 0;
        const InstanceHost& host = *shared->host;
        if (host.is_retired() || !shared->Transition(RunState::kRunning, RunState::kAbandoned))
          return;
        if (CallMonitor* monitor = host.context().monitor) monitor->BeginAbandoned();
        host.NoteFault(shared->point, FaultKind::kDeadline,
                       "completed its promise but did not return within " +
                           FormatDuration(shared->deadline_ns));
        calls.pool->Abandon(task);
      });
}

// Must not: access members after `answered`, which may destroy this call.
void AsyncCall::Finish(PluginStatus status) {
  shared_->call = nullptr;
  if (timer_ != 0) calls_.timers->Cancel(std::exchange(timer_, 0));
  if (task_ != 0 && shared_->HasDeadline() && shared_->run == RunState::kRunning) {
    AwaitReturn(shared_, task_);
  }
  const Answered answered = std::exchange(answered_, nullptr);
  answered(std::move(status));
}

}  // namespace berth::host
