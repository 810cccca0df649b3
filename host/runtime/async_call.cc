#include "host/runtime/async_call.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/base/duration.h"
#include "host/base/status_sink.h"
#include "host/runtime/done.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/point_status.h"

namespace berth::host {
namespace {

constexpr int64_t kNotBegun = INT64_MIN;

// How many deadlines a call waits for a thread of the pool. One call that hangs gives its thread
// back after two.
constexpr int64_t kWaitDeadlines = 4;

// Of a call on the pool: the thread that makes it and who waits for it agree on what has become of
// it. kDropped: it will not be made.
enum class Run : uint8_t { kNotYet, kRuns, kReturned, kLost, kDropped };

}  // namespace

struct AsyncCall::Shared {
  const AsyncCalls& calls;
  const PlannedPlugin& plugin;
  const PluginInstance& instance;
  const std::shared_ptr<InstanceHost> host;
  const Point point;
  berth_done* done = nullptr;
  std::atomic<int64_t> began_ns = kNotBegun;
  std::atomic<Run> run = Run::kNotYet;
  const berth_binding* const binding;
  uint32_t* const cancel;
  int64_t* const binding_deadline;
  // The scheduling thread's:
  AsyncCall* call;                  // Null: nobody waits any more.
  TimerQueue::Id return_timer = 0;  // It has answered, and is to return. 0: none.

  bool HasDeadline() const { return calls.timers != nullptr && calls.deadline_ns > 0; }
  // False, and nothing: it is not `from`.
  bool Turn(Run from, Run to) { return run.compare_exchange_strong(from, to); }
  // From here on the plugin's time counts.
  void Begin() {
    const int64_t now = HasDeadline() ? calls.now_ns() : 0;
    if (HasDeadline()) *binding_deadline = now + calls.deadline_ns;
    began_ns.store(now, std::memory_order_relaxed);
  }
  berth_code Call(berth_status* status) const {
    return point == Point::kBind
               ? instance.bind()->bind(instance.self(), binding, done, status)
               : instance.pre_bind()->pre_bind(instance.self(), binding, done, status);
  }
  // Whether what a call returned is its answer. False: that comes, or came, through the promise.
  bool IsAnswer(berth_code code) const {
    return code != BERTH_PENDING && host->promises().Close(done);
  }
};

AsyncCall::AsyncCall(Binding& binding, const AsyncCalls& calls, uint32_t plugin, Point point,
                     Answered answered)
    : binding_(binding),
      calls_(calls),
      plugin_(binding.plan().plugins()[plugin]),
      index_(plugin),
      answered_(std::move(answered)),
      shared_(new Shared{.calls = calls,
                         .plugin = plugin_,
                         .instance = *plugin_.instance,
                         .host = plugin_.host,
                         .point = point,
                         .binding = binding.AbiFor(plugin),
                         .cancel = binding.CancelWordOf(plugin),
                         .binding_deadline = binding.DeadlineFor(plugin),
                         .call = this}) {
  BERTH_ASSERT(calls.post != nullptr);
}

AsyncCall::~AsyncCall() {
  shared_->call = nullptr;
  if (shared_->done != nullptr) plugin_.host->promises().Withdraw(shared_->done);
  Drop();
  if (timer_ != 0) calls_.timers->Cancel(timer_);
}

void AsyncCall::Start() {
  if (auto error = QuarantineError(plugin_, shared_->point)) return Finish(std::move(*error));
  binding_.BeginCall(index_);
  // What completes the promise is what is posted, from whatever thread.
  shared_->done = plugin_.host->promises().Open(
      [shared = shared_, kept = binding_.Keep()](berth_code code, std::string_view reason) mutable {
        PostAnswer(shared, std::move(kept), code,
                   reason.empty() ? Reasons() : Reasons{std::string(reason)});
      },
      shared_->point == Point::kBind ? Promises::Of::kBind : Promises::Of::kAny);
  if (shared_->HasDeadline()) {
    asked_ns_ = calls_.now_ns();
    StartTimer(asked_ns_ + calls_.deadline_ns);
  }
  if (plugin_.instance->info().blocks_in_bind && calls_.on_pool) {
    task_ = calls_.on_pool([shared = shared_, kept = binding_.Keep()]() mutable {
      RunOnPool(shared, std::move(kept));
    });
    return;
  }
  CallHere();
}

// On the scheduling thread, where the call itself is soon late, whenever the answer is due.
void AsyncCall::CallHere() {
  berth_code code = BERTH_PENDING;
  StatusSink sink;
  shared_->Begin();
  const int64_t answer_due = shared_->binding->deadline_ns;
  const int64_t call_due = DeadlineNs(plugin_, shared_->point);
  const bool is_due_first = call_due != 0 && (answer_due == 0 || call_due < answer_due);
  if (is_due_first) *shared_->binding_deadline = call_due;
  {
    const PluginCall call(plugin_, shared_->point, shared_->binding->pod,
                          {.cancel = shared_->cancel});
    code = shared_->Call(sink.raw());
  }
  if (is_due_first && code == BERTH_PENDING) {
    __atomic_store_n(shared_->binding_deadline, answer_due, __ATOMIC_RELAXED);
  }
  if (!shared_->IsAnswer(code)) return;
  Finish(
      PointStatus(plugin_, shared_->point, code, {sink.reasons().begin(), sink.reasons().end()}));
}

// --- on the pool --------------------------------------------------------------------------------

// The call may outlast everything that it was made in: pool, plan and loop. What it holds then
// stays where it is, for slots and objects are destroyed on the scheduling thread alone.
// Threading: one of the pool.
void AsyncCall::RunOnPool(const std::shared_ptr<Shared>& shared, Kept kept) {
  InstanceHost& host = *shared->host;
  std::optional<PluginCall> call;
  {
    const HostUse world(host);
    if (!world || host.is_closed()) return host.LeaveBehind(std::move(kept));
    if (BERTH_CANCELED(shared->binding) || !shared->Turn(Run::kNotYet, Run::kRuns)) {
      const bool open = host.promises().Close(shared->done);
      return open ? PostAnswer(shared, std::move(kept), BERTH_CANCELLED,
                               {"cancelled before it was called"})
                  : GiveBack(shared, std::move(kept));
    }
    host.BeginCall();
    shared->Begin();
    call.emplace(shared->plugin, shared->point, shared->binding->pod, CallTerms{.may_block = true});
  }
  StatusSink sink;
  const berth_code code = shared->Call(sink.raw());
  const HostUse world(host);
  host.EndCall();
  if (!world) {
    call->Forget();
    return host.LeaveBehind(std::move(kept));
  }
  call.reset();
  CallMonitor* monitor = host.services().monitor;
  const bool was_lost = shared->run.exchange(Run::kReturned) == Run::kLost;
  if (was_lost && monitor != nullptr) monitor->EndLost();
  if (!shared->IsAnswer(code)) {
    // Of a closed host, the promise keeps nothing: the plugin may work on with what it was shown.
    return host.is_closed() ? host.LeaveBehind(std::move(kept)) : GiveBack(shared, std::move(kept));
  }
  PostAnswer(shared, std::move(kept), code, {sink.reasons().begin(), sink.reasons().end()});
}

// It may be the last to keep it, and slots are destroyed on the scheduling thread.
void AsyncCall::GiveBack(const std::shared_ptr<Shared>& shared, Kept kept) {
  shared->calls.post([shared, kept = std::move(kept)]() mutable {
    kept.reset();
    if (shared->return_timer == 0) return;
    shared->calls.timers->Cancel(std::exchange(shared->return_timer, 0));
  });
}

// Threading: any.
void AsyncCall::PostAnswer(const std::shared_ptr<Shared>& shared, Kept kept, berth_code code,
                           Reasons reasons) {
  shared->calls.post(
      [shared, kept = std::move(kept), code, reasons = std::move(reasons)]() mutable {
        // First, so that who is told finds the binding his alone.
        kept.reset();
        if (shared->call == nullptr) return;
        shared->call->Finish(PointStatus(shared->plugin, shared->point, code, std::move(reasons)));
      });
}

// --- the deadline -------------------------------------------------------------------------------

void AsyncCall::StartTimer(int64_t at_ns) {
  timer_ = calls_.timers->Start(at_ns, [this] {
    timer_ = 0;
    OnTimer();
  });
}

void AsyncCall::OnTimer() {
  const int64_t now = calls_.now_ns();
  const int64_t began = shared_->began_ns.load(std::memory_order_relaxed);
  if (began == kNotBegun) return OnStillWaiting(now);
  const int64_t due = began + calls_.deadline_ns * (is_overdue_ ? 2 : 1);
  if (now < due) return StartTimer(due);
  if (!is_overdue_) {
    is_overdue_ = true;
    binding_.CancelCall(index_);
    return StartTimer(now + calls_.deadline_ns);
  }
  const std::string why = "no answer within " + FormatDuration(now - began);
  NoteFault(plugin_, shared_->point, FaultKind::kDeadline, why);
  GiveUpThread();
  Finish(PointError(plugin_, shared_->point, why));
}

// What waits for a thread of the pool is no fault of the plugin's.
void AsyncCall::OnStillWaiting(int64_t now) {
  const int64_t end = asked_ns_ + kWaitDeadlines * calls_.deadline_ns;
  if (now < end) return StartTimer(std::min(now + calls_.deadline_ns, end));
  // A thread has come at the last moment.
  if (!Drop()) return StartTimer(now + calls_.deadline_ns);
  GiveUpThread();
  plugin_.host->promises().Close(shared_->done);
  Finish(PointError(plugin_, shared_->point,
                    "no thread came free within " + FormatDuration(now - asked_ns_)));
}

bool AsyncCall::Drop() { return shared_->Turn(Run::kNotYet, Run::kDropped); }

void AsyncCall::GiveUpThread() {
  plugin_.host->promises().Withdraw(shared_->done);
  if (task_ == 0) return;
  CallMonitor* monitor = plugin_.host->services().monitor;
  if (shared_->Turn(Run::kRuns, Run::kLost) && monitor != nullptr) monitor->BeginLost();
  if (calls_.give_up) calls_.give_up(task_);
}

// It has completed its promise, and keeps its thread: nobody else looks after that.
void AsyncCall::AwaitReturn(const std::shared_ptr<Shared>& shared, uint64_t task) {
  const AsyncCalls& calls = shared->calls;
  shared->return_timer = calls.timers->Start(calls.now_ns() + calls.deadline_ns, [shared, task,
                                                                                  &calls] {
    shared->return_timer = 0;
    const InstanceHost& host = *shared->host;
    if (host.is_buried() || !shared->Turn(Run::kRuns, Run::kLost)) return;
    if (CallMonitor* monitor = host.services().monitor) monitor->BeginLost();
    host.NoteFault(shared->point, FaultKind::kDeadline,
                   "did not return within " + FormatDuration(calls.deadline_ns) + " of its answer");
    if (calls.give_up) calls.give_up(task);
  });
}

// The owner may drop this call within `answered`: nothing of it is touched afterwards.
void AsyncCall::Finish(PluginStatus status) {
  shared_->call = nullptr;
  if (timer_ != 0) calls_.timers->Cancel(std::exchange(timer_, 0));
  if (task_ != 0 && shared_->HasDeadline() && shared_->run == Run::kRuns) {
    AwaitReturn(shared_, task_);
  }
  const Answered answered = std::exchange(answered_, nullptr);
  answered(std::move(status));
}

}  // namespace berth::host
