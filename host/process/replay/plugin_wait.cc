#include "host/process/replay/plugin_wait.h"

#include <algorithm>
#include <utility>

#include "host/base/saturating.h"

namespace berth::host {
namespace {

// How long a run waits for threads before it looks again whether it shall stop. The end of the work
// and a posted function end the wait at once.
constexpr int64_t kAnnouncedWaitNs = 100 * kMillisecond;
// How far virtual time advances while plugins keep the scheduler busy. In real time it would pass
// as well.
constexpr int64_t kBusyAdvanceNs = 10 * kMillisecond;

}  // namespace

bool PluginWait::OnStep(const PluginWork& work, uint64_t progress, bool has_tried) {
  const uint64_t by_itself =
      work.calls_by_itself() - std::exchange(seen_by_itself_, work.calls_by_itself());
  const uint64_t by_threads =
      work.calls_by_threads() - std::exchange(seen_by_threads_, work.calls_by_threads());
  const int64_t now_ns = clock_.NowNs();
  if (std::exchange(progress_, progress) != progress) {
    progress_ns_ = now_ns;
    calls_ = 0;
    wait_began_ns_.reset();
    gave_up_ = false;
  }
  calls_ += by_itself + by_threads;
  const bool has_thread_called =
      by_threads > 0 && limits_.steady_ns && !gave_up_ && LeftForThreadsNs() > 0;
  if (by_itself == 0) return has_thread_called;
  const bool has_time_passed = std::exchange(round_ns_, now_ns) != now_ns;
  if (has_time_passed || has_tried) rounds_ = 0;
  if (!has_tried) ++rounds_;
  return has_thread_called || (has_time_passed && IsWithinTimerLimit(now_ns));
}

PluginWait::Awaited PluginWait::AwaitedOf(const PluginWork& work) const {
  const std::optional<int64_t> timer_ns = work.NextTimerNs();
  if (!timer_ns.has_value() && work.NewestHold() == 0) return Awaited::kNothing;
  if (IsRunaway()) return Awaited::kLimitReached;
  if (AwaitsThreads(work)) return Awaited::kPlugins;
  const bool is_within_limit = timer_ns.has_value() && IsWithinTimerLimit(*timer_ns);
  return is_within_limit ? Awaited::kPlugins : Awaited::kLimitReached;
}

bool PluginWait::IsWithinTimerLimit(int64_t at_ns) const {
  return SubtractTimes(at_ns, progress_ns_) <= limits_.timers_ns;
}

int64_t PluginWait::LeftForThreadsNs() {
  const int64_t now_ns = limits_.steady_ns();
  if (!wait_began_ns_.has_value()) wait_began_ns_ = now_ns;
  return limits_.threads_ns - (now_ns - *wait_began_ns_);
}

int64_t PluginWait::BusyAdvanceNs() const {
  return rounds_ >= kMaxRounds && round_ns_ == clock_.NowNs() ? kBusyAdvanceNs : 0;
}

bool PluginWait::AwaitsThreads(const PluginWork& work) const {
  return limits_.steady_ns && !gave_up_ && work.NewestHold() > given_up_through_;
}

bool PluginWait::WaitForThreads(const PluginWork& work, ThreadWaker& waker, int64_t most_ns) {
  if (!AwaitsThreads(work)) return false;
  const int64_t left_ns = LeftForThreadsNs();
  if (left_ns <= 0) {
    gave_up_ = true;
    given_up_through_ = work.NewestHold();
    return false;
  }
  waker.Wait(std::min({left_ns, most_ns, kAnnouncedWaitNs}));
  return true;
}

}  // namespace berth::host
