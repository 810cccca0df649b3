// Finds calls into plugins that do not end in time, cancels them, and says whose they are.
#ifndef BERTH_HOST_GUARD_CALL_WATCHDOG_H_
#define BERTH_HOST_GUARD_CALL_WATCHDOG_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
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
  int64_t running_ns;  // Since it was first seen.
  int64_t deadline_ns;
};

// Tells from one look to the next which calls go on. A call is seen some time after it began, so
// that it is found late by up to two looks.
// Threading: one thread.
class CallWatch {
 public:
  explicit CallWatch(CallDeadlines deadlines) : deadlines_(deadlines) {}

  // What has become overdue since the last look: each call once. Where a call within another one is
  // late, the inner one is to blame, and the outer one gets its time anew. Calls that may block are
  // passed over. `now_ns` must not go back.
  std::vector<OverdueCall> Look(int64_t now_ns, std::span<const CallMonitor::Seen> slots);
  // A call that was cancelled goes on for as long again: nothing moves.
  bool stuck() const { return stuck_; }

 private:
  struct Running {
    CallWord call = 0;
    int64_t since_ns = 0;
    bool reported = false;
  };

  int64_t DeadlineOf(CallWord call) const { return deadlines_.of(CallMonitor::PointOf(call)); }
  void Follow(Running& running, CallWord call, int64_t now_ns) const;
  // True: it is overdue now and was not before.
  bool Due(Running& running, int64_t now_ns);

  const CallDeadlines deadlines_;
  std::array<Running, CallMonitor::kMaxThreads> innermost_;
  std::array<Running, CallMonitor::kMaxThreads> outermost_;
  bool stuck_ = false;
};

// Threading: Look() by one thread, overdue() by any.
class CallWatchdog {
 public:
  // All outlive it.
  CallWatchdog(CallMonitor& monitor, PluginFaults& faults, CallDeadlines deadlines)
      : monitor_(monitor), faults_(faults), deadlines_(deadlines), watch_(deadlines) {
    monitor_.SetDeadlines(&deadlines_);
  }
  ~CallWatchdog() { monitor_.SetDeadlines(nullptr); }
  CallWatchdog(const CallWatchdog&) = delete;
  CallWatchdog& operator=(const CallWatchdog&) = delete;

  // Cancels what has become overdue and counts it.
  void Look(int64_t now_ns);
  // A call that was cancelled did not end, here or on a thread of the pool: the process is not
  // ready.
  bool overdue() const { return overdue_.load(std::memory_order_relaxed); }

 private:
  CallMonitor& monitor_;
  PluginFaults& faults_;
  const CallDeadlines deadlines_;
  CallWatch watch_;
  std::atomic<bool> overdue_ = false;
};

// Looks every 100 ms on a thread of its own, as long as it lives.
class WatchdogThread {
 public:
  WatchdogThread(CallWatchdog& watchdog, const Clock& clock);
  ~WatchdogThread();
  WatchdogThread(const WatchdogThread&) = delete;
  WatchdogThread& operator=(const WatchdogThread&) = delete;

 private:
  void Run(CallWatchdog& watchdog, const Clock& clock);

  std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stop_ = false;
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CALL_WATCHDOG_H_
