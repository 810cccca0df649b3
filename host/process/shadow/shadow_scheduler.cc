#include "host/process/shadow/shadow_scheduler.h"

#include <algorithm>
#include <span>
#include <utility>

namespace berth::host {
namespace {

SchedulerOptions WithoutPostFilter(SchedulerOptions options) {
  for (PlanSpec& profile : options.profiles) {
    profile.points[static_cast<size_t>(Point::kPostFilter)].clear();
  }
  return options;
}

ShadowObserver::Options WithNames(ShadowObserver::Options observing,
                                  std::span<const PlanSpec> profiles) {
  if (!observing.scheduler_names.empty()) return observing;
  for (const PlanSpec& profile : profiles) {
    observing.scheduler_names.insert(profile.scheduler_name);
  }
  return observing;
}

}  // namespace

ShadowScheduler::ShadowScheduler(Interner& interner, Client cluster, SchedulerOptions options,
                                 ShadowObserver::Options observing,
                                 ShadowObserver::Listener listener, std::function<void()> wake)
    : clock_(*options.loop.clock),
      observing_(WithNames(std::move(observing), options.profiles)),
      listener_(std::move(listener)),
      client_(
          cluster,
          [this](const std::shared_ptr<ShadowRoute>& route, std::span<WatchEvent> events) {
            observer_->Receive(route, events);
          },
          std::move(wake)),
      host_(interner, client_, WithoutPostFilter(std::move(options))) {}

ShadowScheduler::~ShadowScheduler() = default;

Status ShadowScheduler::Start() {
  Status status = host_.Start();
  if (!status.ok()) return status;
  observer_ = std::make_unique<ShadowObserver>(host_.loop(), clock_, observing_, listener_);
  return {};
}

bool ShadowScheduler::Step() {
  bool did = client_.Deliver() > 0;
  did |= observer_->Tick();
  did |= host_.loop().Settle();
  return did;
}

std::optional<int64_t> ShadowScheduler::NextStepNs() const {
  const std::optional<int64_t> tick_ns = observer_->NextTickNs();
  const std::optional<int64_t> timer_ns = host_.loop().NextTimerNs();
  if (!tick_ns.has_value()) return timer_ns;
  return timer_ns.has_value() ? std::min(*tick_ns, *timer_ns) : tick_ns;
}

void ShadowScheduler::Finish() {
  observer_->Finish();
  while (Step()) {
  }
}

}  // namespace berth::host
