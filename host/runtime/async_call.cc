#include "host/runtime/async_call.h"

#include <atomic>
#include <optional>
#include <utility>

#include "host/api/assert.h"
#include "host/api/duration.h"
#include "host/api/status_sink.h"
#include "host/runtime/done.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/point_status.h"

namespace berth::host {
namespace {

constexpr int64_t kNotBegun = INT64_MIN;

}  // namespace

struct AsyncCall::Shared {
  const AsyncCalls& calls;
  const PlannedPlugin& plugin;
  const Point point;
  berth_done* done = nullptr;
  std::atomic<int64_t> began_ns = kNotBegun;
  std::atomic<bool> given_up = false;
  const berth_binding* const binding;
  int64_t* const binding_deadline;
  AsyncCall* call;  // The scheduling thread's. Null: nobody waits any more.

  bool HasDeadline() const { return calls.timers != nullptr && calls.deadline_ns > 0; }
  // From here on the plugin's time counts.
  void Begin() {
    const int64_t now = HasDeadline() ? calls.now_ns() : 0;
    if (HasDeadline()) *binding_deadline = now + calls.deadline_ns;
    began_ns.store(now, std::memory_order_relaxed);
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
                         .point = point,
                         .binding = binding.AbiFor(plugin),
                         .binding_deadline = binding.DeadlineFor(plugin),
                         .call = this}) {
  BERTH_ASSERT(calls.post != nullptr);
}

AsyncCall::~AsyncCall() {
  shared_->call = nullptr;
  shared_->given_up.store(true, std::memory_order_relaxed);
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
      });
  if (shared_->HasDeadline()) StartTimer(calls_.now_ns() + calls_.deadline_ns);
  if (plugin_.instance->info().blocks_in_bind && calls_.on_pool) return StartOnPool();
  berth_code code = BERTH_PENDING;
  Reasons reasons;
  if (Ask(*shared_, code, reasons)) {
    Finish(PointStatus(plugin_, shared_->point, code, std::move(reasons)));
  }
}

void AsyncCall::StartOnPool() {
  calls_.on_pool([shared = shared_, kept = binding_.Keep()]() mutable {
    berth_code code = BERTH_CANCELLED;
    Reasons reasons;
    bool answered = true;
    if (BERTH_CANCELED(shared->binding) || shared->given_up.load(std::memory_order_relaxed)) {
      answered = shared->plugin.host->promises().Close(shared->done);
      reasons = {"cancelled before it was called"};
    } else {
      answered = Ask(*shared, code, reasons);
    }
    if (answered) return PostAnswer(shared, std::move(kept), code, std::move(reasons));
    // It may be the last to keep it, and slots are destroyed on the scheduling thread.
    shared->calls.post([kept = std::move(kept)]() mutable { kept.reset(); });
  });
}

// Calls the plugin. False: the answer comes, or came, through the promise.
// Threading: the scheduling thread, or one of the pool.
bool AsyncCall::Ask(Shared& shared, berth_code& code, Reasons& reasons) {
  const PluginInstance& instance = *shared.plugin.instance;
  const berth_binding* binding = shared.binding;
  StatusSink sink;
  shared.Begin();
  {
    const PluginCall call(shared.plugin, shared.point, binding->pod);
    code = shared.point == Point::kBind
               ? instance.bind()->bind(instance.self(), binding, shared.done, sink.raw())
               : instance.pre_bind()->pre_bind(instance.self(), binding, shared.done, sink.raw());
  }
  if (code == BERTH_PENDING || !shared.plugin.host->promises().Close(shared.done)) return false;
  reasons.assign(sink.reasons().begin(), sink.reasons().end());
  return true;
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
  // What waits for a thread of the pool is no fault of the plugin's.
  if (began == kNotBegun) return StartTimer(now + calls_.deadline_ns);
  const int64_t due = began + calls_.deadline_ns * (is_overdue_ ? 2 : 1);
  if (now < due) return StartTimer(due);
  if (!is_overdue_) {
    is_overdue_ = true;
    binding_.CancelCall(index_);
    return StartTimer(now + calls_.deadline_ns);
  }
  const std::string why = "no answer within " + FormatDuration(now - began);
  NoteFault(plugin_, shared_->point, FaultKind::kDeadline, why);
  Finish(PointError(plugin_, shared_->point, why));
}

// The owner may drop this call within `answered`: nothing of it is touched afterwards.
void AsyncCall::Finish(PluginStatus status) {
  shared_->call = nullptr;
  if (timer_ != 0) calls_.timers->Cancel(std::exchange(timer_, 0));
  const Answered answered = std::exchange(answered_, nullptr);
  answered(std::move(status));
}

}  // namespace berth::host
