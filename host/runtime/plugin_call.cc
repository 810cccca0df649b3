#include "host/runtime/plugin_call.h"

#include <atomic>
#include <string>

#include "host/base/status_sink.h"
#include "host/guard/call_monitor.h"
#include "host/runtime/plan.h"

namespace berth::host {

PluginCall::PluginCall(const PlannedPlugin& plugin, Point point, const berth_pod* pod,
                       CallTerms terms) {
  if (plugin.host != nullptr) Begin(*plugin.host, point, pod, terms);
}

PluginCall::PluginCall(InstanceHost& host, Point point) {
  Begin(host, point, nullptr, {.may_block = point == kLoad});
}

void PluginCall::Begin(InstanceHost& host, Point point, const berth_pod* pod, CallTerms terms) {
  host_ = &host;
  outer_point_ = host.Enter(point);
  monitor_ = host.services().monitor;
  if (monitor_ == nullptr) return;
  slot_ = monitor_->SlotOfThisThread();
  if (slot_ == nullptr) return;
  outer_ = slot_->innermost.load(std::memory_order_relaxed);
  outer_pod_ = slot_->pod.load(std::memory_order_relaxed);
  call_ = CallMonitor::NextWord(*slot_, host.callee(), point, terms.may_block);
  slot_->pod.store(pod, std::memory_order_relaxed);
  slot_->innermost.store(call_, std::memory_order_relaxed);
  if (outer_ == 0) slot_->outermost.store(call_, std::memory_order_relaxed);
  // A signal handler of this thread sees the stores in this order.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  cancellable_ = terms.cancel != nullptr;
  if (cancellable_) monitor_->BeginCancellable(*slot_, terms.cancel);
}

void PluginCall::Forget() {
  host_ = nullptr;
  slot_ = nullptr;
}

PluginCall::~PluginCall() {
  if (host_ != nullptr && host_->Enter(outer_point_) == Point::kPostFilter) {
    host_->what_if().EndAll();
  }
  if (slot_ == nullptr) return;
  if (cancellable_) monitor_->EndCancellable(*slot_);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot_->innermost.store(outer_, std::memory_order_relaxed);
  slot_->pod.store(outer_pod_, std::memory_order_relaxed);
  if (outer_ == 0) slot_->outermost.store(0, std::memory_order_relaxed);
  if (slot_->overdue.load(std::memory_order_relaxed) == call_) monitor_->EndOverdue(*slot_);
}

int64_t DeadlineNs(const PlannedPlugin& plugin, Point point) {
  if (plugin.host == nullptr) return 0;
  const HostServices& services = plugin.host->services();
  if (services.clock == nullptr || services.monitor == nullptr) return 0;
  return services.monitor->is_watched()
             ? services.monitor->DeadlineNs(point, services.clock->NowNs())
             : 0;
}

void NoteFault(const PlannedPlugin& plugin, Point point, FaultKind kind, std::string_view what) {
  if (plugin.host != nullptr) plugin.host->NoteFault(point, kind, what);
}

void NoteCode(const PlannedPlugin& plugin, Point point, berth_code code, std::string_view why) {
  if (code == BERTH_ERROR || code == BERTH_CANCELLED) return;
  if (code == BERTH_BUG) {
    return NoteFault(plugin, point, FaultKind::kException, WhyFailed(code, why));
  }
  std::string what = "answered " + std::string(CodeName(code));
  what.append(" (").append(std::to_string(code)).append(")");
  if (!why.empty()) what.append(": ").append(why);
  NoteFault(plugin, point, FaultKind::kBadCode, what);
}

std::string WhyFailed(const PlannedPlugin& plugin, Point point, berth_code code,
                      const StatusSink& sink) {
  const std::string reasons = sink.JoinReasons();
  NoteCode(plugin, point, code, reasons);
  return WhyFailed(code, reasons);
}

bool IsQuarantined(const PlannedPlugin& plugin, std::string_view* why) {
  const PluginFaults::Account* account = plugin.host != nullptr ? plugin.host->faults() : nullptr;
  if (account == nullptr || !account->quarantined()) return false;
  if (why != nullptr) *why = account->why();
  return true;
}

}  // namespace berth::host
