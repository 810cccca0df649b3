#include "host/process/replay/simulation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

// How long a plugin may take to complete a binding that it completes later.
constexpr int64_t kBindDeadlineNs = kMinute;

PodOutcome WithoutResult(const QueuedEntity& entity, const PodRef& pod) {
  if (entity.gate != nullptr) {
    return {pod, entity.gate->code, Join(entity.gate->reasons, ", "), ""};
  }
  return {pod, BERTH_WAIT, entity.attempts == 0 ? "not tried yet" : "not bound yet", ""};
}

}  // namespace

Simulation::Simulation(SchedulerOptions options, int64_t now_ns, std::function<int64_t()> steady_ns)
    : clock_(now_ns), steady_ns_(std::move(steady_ns)), scheduler_(Complete(std::move(options))) {}

SchedulerOptions Simulation::Complete(SchedulerOptions options) {
  options.loop.clock = &clock_;
  options.loop.sink = this;
  options.loop.waker = &waker_;
  options.loop.bind_deadline_ns = kBindDeadlineNs;
  return options;
}

Status Simulation::Start() {
  Status status = scheduler_.Start();
  if (status.ok()) scheduler_.host().StartWatchdog(CallDeadlines(), steady_ns_);
  return status;
}

Simulation::End Simulation::Run(const std::function<void()>& progress,
                                const std::atomic<int>& stop) {
  while (!scheduler_.AtRest()) {
    if (stop.load(std::memory_order_relaxed) != 0) return End::kStopped;
    if (scheduler_.IsStalled()) return End::kNoProgress;
    if (scheduler_.Step()) {
      if (progress) progress();
      continue;
    }
    if (scheduler_.WaitForThreads(waker_)) continue;
    const std::optional<int64_t> next = scheduler_.NextStepNs();
    if (!next.has_value()) return End::kAtRest;
    clock_.AdvanceTo(std::max(*next, clock_.NowNs()));
  }
  return End::kAtRest;
}

void Simulation::OnBound(const PodRef& pod, std::string_view node) {
  Record(pod, BERTH_SUCCESS, "", node);
}

void Simulation::OnFailed(const PodRef& pod, std::string_view, const Failure& failure) {
  Record(pod, failure.code, failure.message, "");
}

void Simulation::OnSkipped(const PodRef& pod, std::string_view message) {
  Record(pod, BERTH_SKIP, message, "");
}

void Simulation::Record(const PodRef& pod, berth_code code, std::string_view message,
                        std::string_view node) {
  const auto [place, is_new] = outcome_of_.try_emplace(std::string(pod->uid()), outcomes_.size());
  if (is_new) outcomes_.emplace_back();
  PodOutcome& outcome = outcomes_[place->second];
  outcome = {pod, code, std::string(message), std::string(node)};
}

std::vector<PodOutcome> Simulation::TakeOutcomes() {
  std::vector<PodOutcome> others;
  loop().queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      if (!outcome_of_.contains(pod->uid())) others.push_back(WithoutResult(entity, pod));
    });
  });
  std::ranges::sort(others, {}, [](const PodOutcome& outcome) { return outcome.pod->Key(); });
  std::ranges::move(others, std::back_inserter(outcomes_));
  outcome_of_.clear();
  return std::exchange(outcomes_, {});
}

}  // namespace berth::host
