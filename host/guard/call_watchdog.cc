#include "host/guard/call_watchdog.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "host/base/time.h"

namespace berth::host {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);

}  // namespace

// ---- CallWatch ----------------------------------------------------------------------------------

void CallWatch::Track(Running& running, CallWord call, int64_t own_ns, int64_t now_ns) const {
  if (running.call == call) return;
  const int64_t deadline_ns = own_ns != 0 ? own_ns : deadlines_.of(CallMonitor::PointOf(call));
  running = {call, now_ns, deadline_ns, false};
}

bool CallWatch::IsNewlyOverdue(Running& running, int64_t now_ns) {
  if (running.call == 0 || CallMonitor::MayBlock(running.call)) return false;
  const int64_t age = now_ns - running.since_ns;
  if (age < running.deadline_ns) return false;
  if (age / 2 >= running.deadline_ns) stuck_ = true;
  return !std::exchange(running.reported, true);
}

void CallWatch::LeaveOutNested(size_t slot, const CallMonitor::ThreadCalls& seen, int64_t now_ns) {
  const bool has_run =
      innermost_[slot].call == seen.innermost && outermost_[slot].call == seen.outermost;
  if (has_run && !CallMonitor::MayBlock(seen.innermost)) {
    outermost_[slot].since_ns += now_ns - polled_ns_;
  }
}

std::vector<OverdueCall> CallWatch::Poll(int64_t now_ns,
                                         std::span<const CallMonitor::ThreadCalls> slots) {
  std::vector<OverdueCall> overdue;
  stuck_ = false;
  const auto check = [&](size_t slot, Running& running) {
    if (!IsNewlyOverdue(running, now_ns)) return;
    overdue.push_back({slot, running.call, now_ns - running.since_ns, running.deadline_ns});
  };
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const CallMonitor::ThreadCalls& seen = slots[slot];
    if (seen.innermost != seen.outermost) LeaveOutNested(slot, seen, now_ns);
    Track(outermost_[slot], seen.outermost, seen.outermost_deadline_ns, now_ns);
    Track(innermost_[slot], seen.innermost, seen.innermost_deadline_ns, now_ns);
    if (seen.innermost == seen.outermost) {
      check(slot, outermost_[slot]);
      continue;
    }
    check(slot, innermost_[slot]);
    if (innermost_[slot].reported) {
      outermost_[slot].since_ns = now_ns;
    } else {
      check(slot, outermost_[slot]);
    }
  }
  polled_ns_ = now_ns;
  return overdue;
}

// ---- CallWatchdog -------------------------------------------------------------------------------

void CallWatchdog::Poll(int64_t now_ns) {
  for (const OverdueCall& late : watch_.Poll(now_ns, monitor_.Snapshot())) {
    const auto [callee, pod] = monitor_.MarkOverdue(late.slot, late.call, late.deadline_ns);
    if (callee == nullptr || callee->faults == nullptr) continue;
    faults_.Note(*callee->faults, CallMonitor::PointOf(late.call), FaultKind::kDeadline,
                 "a call has run for " + FormatDuration(late.running_ns) + "; its deadline is " +
                     FormatDuration(late.deadline_ns),
                 pod);
  }
  overdue_.store(watch_.stuck() || monitor_.abandoned() > 0, std::memory_order_relaxed);
}

// ---- WatchdogThread -----------------------------------------------------------------------------

WatchdogThread::WatchdogThread(CallWatchdog& watchdog, const Clock& clock)
    : thread_([&watchdog, &clock](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any never;
        std::unique_lock lock(mutex);
        while (!never.wait_for(lock, stop, kPoll, [&stop] { return stop.stop_requested(); })) {
          watchdog.Poll(clock.NowNs());
        }
      }) {}

}  // namespace berth::host
