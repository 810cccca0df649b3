// Finds calls into plugins that do not end in time, cancels them, and counts them as faults.
#ifndef BERTH_HOST_GUARD_CALL_WATCHDOG_H_
#define BERTH_HOST_GUARD_CALL_WATCHDOG_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "host/base/clock.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"

namespace berth::host {

struct OverdueCall {
  size_t slot;
  CallWord call;
  // The time since Poll() first found the call, without the time of nested calls.
  int64_t running_ns;
  int64_t deadline_ns;
};

// Finds late calls by comparing successive snapshots of the call monitor. A call is first seen some
// time after it began, so that it may be found late up to two polls after its deadline.
// Threading: one thread.
class CallWatch {
 public:
  explicit CallWatch(CallDeadlines deadlines) : deadlines_(deadlines) {}

  // Returns the calls that became overdue since the last poll; each call once. The time of a nested
  // call does not count for the outer one, because the nested call has a deadline of its own, which
  // may be longer; the time of a nested call that is too short to be found by two polls counts. If
  // a nested call is late, the time of the outer call starts again. Calls that may block are
  // ignored. `now_ns` must not go back.
  std::vector<OverdueCall> Poll(int64_t now_ns, std::span<const CallMonitor::ThreadCalls> slots);
  // Returns whether a call has run for twice its deadline, although it was cancelled.
  bool stuck() const { return stuck_; }

 private:
  struct Running {
    CallWord call = 0;
    int64_t since_ns = 0;
    int64_t deadline_ns = 0;
    bool reported = false;
  };

  // Leaves the time since the last poll out of the outer call's time, if the nested call has run
  // since then. REQUIRES: the calls of `seen` are nested.
  void LeaveOutNested(size_t slot, const CallMonitor::ThreadCalls& seen, int64_t now_ns);
  // `own_ns`: the deadline of the callee, or 0.
  void Track(Running& running, CallWord call, int64_t own_ns, int64_t now_ns) const;
  // Returns whether the call is overdue and has not been reported.
  bool IsNewlyOverdue(Running& running, int64_t now_ns);

  const CallDeadlines deadlines_;
  std::array<Running, CallMonitor::kMaxThreads> innermost_;
  std::array<Running, CallMonitor::kMaxThreads> outermost_;
  int64_t polled_ns_ = 0;  // The time of the last poll.
  bool stuck_ = false;
};

// Threading: Poll() by one thread, overdue() by any.
class CallWatchdog {
 public:
  // `monitor` and `faults` must outlive the watchdog.
  CallWatchdog(CallMonitor& monitor, PluginFaults& faults, CallDeadlines deadlines)
      : monitor_(monitor), faults_(faults), deadlines_(deadlines), watch_(deadlines) {
    monitor_.SetDeadlines(&deadlines_);
  }
  ~CallWatchdog() { monitor_.SetDeadlines(nullptr); }
  CallWatchdog(const CallWatchdog&) = delete;
  CallWatchdog& operator=(const CallWatchdog&) = delete;

  // Cancels calls that became overdue and counts a fault for each.
  void Poll(int64_t now_ns);
  // Returns whether a cancelled call has not ended, on the scheduling thread or on a thread of the
  // pool. The process is not ready then.
  bool overdue() const { return overdue_.load(std::memory_order_relaxed); }

 private:
  CallMonitor& monitor_;
  PluginFaults& faults_;
  const CallDeadlines deadlines_;
  CallWatch watch_;
  std::atomic<bool> overdue_ = false;
};

// Polls the watchdog every 100 ms on a thread of its own, from construction to destruction.
class WatchdogThread {
 public:
  WatchdogThread(CallWatchdog& watchdog, const Clock& clock);

 private:
  std::jthread thread_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CALL_WATCHDOG_H_
