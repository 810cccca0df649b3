// One call into a plugin, recorded in the call monitor while it lasts.
#ifndef BERTH_HOST_GUARD_MONITORED_CALL_H_
#define BERTH_HOST_GUARD_MONITORED_CALL_H_

#include <cstdint>

#include <berth/abi.h>

#include "host/guard/call_monitor.h"
#include "host/guard/point.h"

namespace berth::host {

// The terms of one call. By default, the call must return within the deadline of its point.
struct CallTerms {
  // The pod that a crash report names. If null, the report names the pod of the attempt, if the
  // point belongs to an attempt.
  const berth_pod* pod = nullptr;
  // The call has no deadline: it runs on a thread of the pool, or creates or destroys an instance.
  bool may_block = false;
  // A word that becomes 1 when the call is late and gets its old value back when the call ends.
  // Null if the call has no such word, or uses the word of the attempt.
  uint32_t* cancel = nullptr;
};

// Records the call from construction to destruction: a crash report names it, and the watchdog
// measures how long it takes. Costs a few relaxed stores.
// Threading: the thread that calls the plugin. Calls may be nested (a plugin that asks what-if).
// Lifetime:  the monitor must outlive it.
class MonitoredCall {
 public:
  // Records nothing if `monitor` is null or has no slot for this thread.
  MonitoredCall(CallMonitor* monitor, CallMonitor::CalleeId callee, Point point,
                const CallTerms& terms);
  ~MonitoredCall();
  MonitoredCall(const MonitoredCall&) = delete;
  MonitoredCall& operator=(const MonitoredCall&) = delete;

  // Ends the record now, without the monitor; the destructor does nothing then.
  // Called: when the call has outlived the monitor. REQUIRES: the call has a reference to
  //         CallMonitor::Threads, and no CallTerms::cancel.
  void Detach();

 private:
  void RestoreSlot();

  CallMonitor* const monitor_;
  CallSlot* slot_ = nullptr;  // Null: the call is not recorded.
  bool is_cancellable_ = false;
  CallWord call_ = 0;
  CallWord outer_ = 0;
  const berth_pod* outer_pod_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_MONITORED_CALL_H_
