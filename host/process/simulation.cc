#include "host/process/simulation.h"

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

}  // namespace

Simulation::Simulation(SchedulerOptions options, int64_t now_ns)
    : clock_(now_ns), scheduler_(Complete(std::move(options))) {}

SchedulerOptions Simulation::Complete(SchedulerOptions options) {
  options.loop.clock = &clock_;
  options.loop.sink = this;
  options.loop.waker = &waker_;
  options.loop.bind_deadline_ns = kBindDeadlineNs;
  return options;
}

void Simulation::Run(const std::function<void()>& progress) {
  while (!scheduler_.AtRest()) {
    if (scheduler_.Step()) {
      if (progress) progress();
      continue;
    }
    if (scheduler_.WaitForThreads(waker_)) continue;
    const std::optional<int64_t> next = scheduler_.NextStepNs();
    if (!next.has_value()) return;
    clock_.AdvanceTo(std::max(*next, clock_.NowNs()));
  }
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
  std::vector<PodOutcome> gated;
  loop().queue().ForEach([&](const QueuedEntity& entity) {
    if (entity.place != QueuePlace::kGated) return;
    entity.ForEachPod([&](const PodRef& pod) {
      if (outcome_of_.contains(pod->uid())) return;
      gated.push_back({pod, entity.gate->code, Join(entity.gate->reasons, ", "), ""});
    });
  });
  std::ranges::sort(gated, {}, [](const PodOutcome& outcome) { return outcome.pod->Key(); });
  std::ranges::move(gated, std::back_inserter(outcomes_));
  outcome_of_.clear();
  return std::exchange(outcomes_, {});
}

}  // namespace berth::host
