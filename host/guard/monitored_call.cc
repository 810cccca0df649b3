#include "host/guard/monitored_call.h"

#include <atomic>

namespace berth::host {

MonitoredCall::MonitoredCall(CallMonitor* monitor, CallMonitor::CalleeId callee, Point point,
                             const CallTerms& terms)
    : monitor_(monitor) {
  if (monitor_ == nullptr) return;
  slot_ = monitor_->SlotOfThisThread();
  if (slot_ == nullptr) return;
  outer_ = slot_->innermost.load(std::memory_order_relaxed);
  outer_pod_ = slot_->pod.load(std::memory_order_relaxed);
  call_ = CallMonitor::NextWord(*slot_, callee, point, terms.may_block);
  slot_->pod.store(terms.pod, std::memory_order_relaxed);
  slot_->innermost.store(call_, std::memory_order_relaxed);
  if (outer_ == 0) slot_->outermost.store(call_, std::memory_order_relaxed);
  // A signal handler of this thread observes the stores in this order.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  is_cancellable_ = terms.cancel != nullptr;
  if (is_cancellable_) monitor_->BeginCancellable(*slot_, terms.cancel);
}

void MonitoredCall::RestoreSlot() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot_->innermost.store(outer_, std::memory_order_relaxed);
  slot_->pod.store(outer_pod_, std::memory_order_relaxed);
  if (outer_ == 0) slot_->outermost.store(0, std::memory_order_relaxed);
}

void MonitoredCall::Detach() {
  if (slot_ != nullptr) RestoreSlot();
  slot_ = nullptr;
}

MonitoredCall::~MonitoredCall() {
  if (slot_ == nullptr) return;
  if (is_cancellable_) monitor_->EndCancellable(*slot_);
  RestoreSlot();
  if (slot_->overdue.load(std::memory_order_relaxed) == call_) monitor_->EndOverdue(*slot_);
}

}  // namespace berth::host
