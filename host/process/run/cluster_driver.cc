#include "host/process/run/cluster_driver.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

ClusterDriver::ClusterDriver(Parts parts) : parts_(std::move(parts)) {
  BERTH_ASSERT(parts_.loop != nullptr && parts_.clock != nullptr && parts_.waker != nullptr);
  BERTH_ASSERT(parts_.deliver && parts_.boot_ns);
  last_progress_ns_ = parts_.boot_ns();
}

// ---- Requests -----------------------------------------------------------------------------------

void ClusterDriver::RequestStop(int signal) {
  int running = 0;
  stop_.compare_exchange_strong(running, signal);
  parts_.waker->Wake();
}

void ClusterDriver::OnOutputFailed() { RequestStop(kOutputFailed); }

void ClusterDriver::OnLeaseLost(std::string why) {
  {
    const std::lock_guard lock(lost_mutex_);
    if (lost_why_.empty()) lost_why_ = std::move(why);
  }
  lost_ = true;
  parts_.waker->Wake();
}

void ClusterDriver::OnLeading() {
  leads_ = true;
  parts_.waker->Wake();
}

// ---- The loop -----------------------------------------------------------------------------------

DriverEnd ClusterDriver::Run() {
  while (true) {
    last_progress_ns_ = parts_.boot_ns();
    StopIfRequested();
    if (IsDone()) break;
    if (!RunOneRound()) Wait();
  }
  Flush();
  DriverEnd end{.signal = std::max(stop_.load(), 0),
                .lost_lease = {},
                .output_failed = stop_ == kOutputFailed,
                .unsettled = parts_.loop->binding_count()};
  if (!lost_) return end;
  const std::lock_guard lock(lost_mutex_);
  end.lost_lease = lost_why_;
  return end;
}

void ClusterDriver::StopIfRequested() {
  if (stop_ == 0 || std::exchange(is_stopping_, true)) return;
  settle_until_ns_ = parts_.boot_ns() + parts_.settle_limit_ns;
  parts_.loop->Stop();
}

bool ClusterDriver::IsDone() const {
  if (lost_) return true;
  if (!is_stopping_) return false;
  return parts_.loop->binding_count() == 0 || parts_.boot_ns() >= settle_until_ns_;
}

bool ClusterDriver::RunOneRound() {
  bool did = parts_.deliver() > 0;
  if (!is_stopping_ && parts_.before_step) parts_.before_step();
  Lead();
  did |= MaySchedule() && HasRoom() ? parts_.loop->Step() : parts_.loop->Settle();
  if (parts_.after_step) parts_.after_step();
  return did;
}

void ClusterDriver::Lead() {
  if (!leads_ || schedules_ || is_stopping_) return;
  if (!std::exchange(is_refreshing_, true)) {
    leading_ns_ = parts_.boot_ns();
    is_fresh_ = !parts_.refresh;
    if (parts_.refresh) parts_.refresh([this] { is_fresh_ = true; });
  }
  if (!is_fresh_ || !parts_.loop->router().synced()) return;
  schedules_ = true;
  if (parts_.on_scheduling) parts_.on_scheduling(parts_.boot_ns() - leading_ns_);
}

int64_t ClusterDriver::IdleNs() const {
  const bool is_full = MaySchedule() && !HasRoom();
  const std::optional<int64_t> next =
      MaySchedule() && !is_full ? parts_.loop->NextStepNs() : parts_.loop->NextTimerNs();
  int64_t idle_ns = is_full ? kMaxFullWaitNs : kMaxWaitNs;
  if (next.has_value()) idle_ns = std::min(idle_ns, *next - parts_.clock->NowNs());
  if (is_stopping_) idle_ns = std::min(idle_ns, settle_until_ns_ - parts_.boot_ns());
  return idle_ns;
}

// A request wakes the waker, and the waker keeps that for the next Wait(), so that no request is
// lost between the check of it and the wait.
void ClusterDriver::Wait() {
  const bool was_stopping = is_stopping_;
  Flush();
  if (!was_stopping && stop_ != 0) return;
  const int64_t pause_ns = std::min(pacer_.PauseNs(parts_.boot_ns()), IdleNs());
  if (pause_ns > 0) parts_.waker->Pause(pause_ns);
  parts_.waker->Wait(IdleNs());
  pacer_.OnWake(parts_.boot_ns());
}

void ClusterDriver::Flush() {
  if (parts_.flush && !parts_.flush()) OnOutputFailed();
}

}  // namespace berth::host
