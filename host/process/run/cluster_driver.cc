#include "host/process/run/cluster_driver.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::host {

ClusterDriver::ClusterDriver(Options options)
    : Driver(options.flush), options_(std::move(options)), last_progress_ns_(options_.boot_ns()) {}

// ---- Requests -----------------------------------------------------------------------------------

void ClusterDriver::OnLeaseLost(std::string_view why) {
  {
    const std::lock_guard lock(lost_mutex_);
    if (lost_why_.empty()) lost_why_ = why;
  }
  lost_ = true;
  waker().Wake();
}

void ClusterDriver::OnLeading() {
  leads_ = true;
  waker().Wake();
}

std::string ClusterDriver::lost_lease() const {
  const std::lock_guard lock(lost_mutex_);
  return lost_why_;
}

// ---- The loop -----------------------------------------------------------------------------------

void ClusterDriver::Run(SchedulingLoop& loop, const Clock& clock) {
  loop_ = &loop;
  clock_ = &clock;
  RunRounds();
}

void ClusterDriver::OnStop() {
  settle_until_ns_ = options_.boot_ns() + options_.settle_limit_ns;
  loop_->Stop();
}

bool ClusterDriver::IsDone() {
  if (lost_) return true;
  if (!is_stopping()) return false;
  return loop_->binding_count() == 0 || options_.boot_ns() >= settle_until_ns_;
}

bool ClusterDriver::RunRound() {
  last_progress_ns_ = options_.boot_ns();
  bool did = Deliver() > 0;
  if (!is_stopping()) BeforeStep();
  Lead();
  did |= MaySchedule() && HasRoom() ? loop_->Step() : loop_->Settle();
  AfterStep();
  return did;
}

void ClusterDriver::Lead() {
  if (!leads_ || schedules_ || is_stopping()) return;
  if (!std::exchange(is_refreshing_, true)) {
    leading_ns_ = options_.boot_ns();
    Refresh([this] { is_fresh_ = true; });
  }
  if (!is_fresh_ || !loop_->router().synced()) return;
  schedules_ = true;
  OnScheduling(options_.boot_ns() - leading_ns_);
}

int64_t ClusterDriver::IdleNs() const {
  const bool is_full = MaySchedule() && !HasRoom();
  const std::optional<int64_t> next =
      MaySchedule() && !is_full ? loop_->NextStepNs() : loop_->NextTimerNs();
  int64_t idle_ns = is_full ? kMaxFullWaitNs : kMaxWaitNs;
  if (next.has_value()) idle_ns = std::min(idle_ns, *next - clock_->NowNs());
  if (is_stopping()) idle_ns = std::min(idle_ns, settle_until_ns_ - options_.boot_ns());
  return idle_ns;
}

void ClusterDriver::Wait() {
  const int64_t pause_ns = std::min(pacer_.PauseNs(options_.boot_ns()), IdleNs());
  if (pause_ns > 0) waker().Pause(pause_ns);
  waker().Wait(IdleNs());
  pacer_.OnWake(options_.boot_ns(), GatherNs());
}

}  // namespace berth::host
