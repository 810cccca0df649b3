#include "host/cycle/cycle_meter.h"

#include <algorithm>

#include "host/base/status_sink.h"

namespace berth::host {

// --- cycle metrics -------------------------------------------------------------------------------

std::string SliAttemptsLabel(uint64_t attempts) {
  return attempts > kMostListedAttempts ? "15+" : std::to_string(attempts);
}

namespace {

// Returns the place of the series for this number of attempts among those of sli_seconds.
size_t SliSeriesOf(uint64_t attempts) {
  return static_cast<size_t>(std::min<uint64_t>(attempts, kMostListedAttempts + 1));
}

}  // namespace

CycleMeter::CycleMeter(SchedulerMetrics& metrics, const Clock& clock, KubeVersion emulated)
    : metrics_(metrics),
      clock_(clock),
      queue_(metrics.queue, clock, emulated),
      algorithm_(metrics.cycles.algorithm_seconds.With({})),
      attempts_per_pod_(metrics.cycles.attempts_per_pod.With({})),
      victims_(metrics.cycles.victims.With({})),
      preemptions_(metrics.cycles.preemptions.With({})),
      nodes_(metrics.cycles.cache_size.With({"nodes"})),
      pods_(metrics.cycles.cache_size.With({"pods"})),
      assumed_pods_(metrics.cycles.cache_size.With({"assumed_pods"})),
      bindings_(metrics.cycles.goroutines.With({"binding"})) {}

CycleMeter::ProfileInstruments& CycleMeter::InstrumentsOf(std::string_view profile) {
  const auto known = profiles_.find(profile);
  if (known != profiles_.end()) return known->second;
  ProfileInstruments& made = profiles_[std::string(profile)];
  constexpr std::array<std::string_view, 3> kResults = {"scheduled", "unschedulable", "error"};
  for (size_t i = 0; i < kResults.size(); ++i) {
    made.attempts[i] = &metrics_.cycles.attempts.With({kResults[i], profile});
    made.seconds[i] = &metrics_.cycles.attempt_seconds.With({kResults[i], profile});
  }
  made.points = std::make_unique<PointMeter>(metrics_.points, clock_, std::string(profile));
  return made;
}

PointMeter& CycleMeter::PointsOf(std::string_view profile) {
  return *InstrumentsOf(profile).points;
}

void CycleMeter::OnAttempt(std::string_view profile, Result result, int64_t popped_ns) {
  ProfileInstruments& instruments = InstrumentsOf(profile);
  instruments.attempts[result]->Add();
  if (popped_ns != 0) instruments.seconds[result]->ObserveNs(NowNs() - popped_ns);
}

void CycleMeter::OnBound(const QueuedEntity& entity) {
  OnAttempt(entity.pod->scheduler_name(), kScheduled, entity.popped_ns);
  attempts_per_pod_.Observe(static_cast<double>(entity.attempts));
  if (entity.was_flushed) queue_.CountBoundAfterFlush();
  if (entity.first_attempt_ns == 0) return;
  Histogram*& seconds = sli_seconds_[SliSeriesOf(entity.attempts)];
  if (seconds == nullptr) {
    seconds = &metrics_.cycles.sli_seconds.With({SliAttemptsLabel(entity.attempts)});
  }
  seconds->ObserveNs(NowNs() - entity.first_attempt_ns);
}

void CycleMeter::OnFailed(std::string_view profile, berth_code code, int64_t popped_ns) {
  OnAttempt(profile, code == BERTH_ERROR ? kError : kUnschedulable, popped_ns);
}

void CycleMeter::OnPermitEnded(berth_code code, int64_t since_ns) {
  metrics_.cycles.permit_seconds.With({CodeName(code)}).ObserveNs(NowNs() - since_ns);
}

void CycleMeter::Publish(const Sizes& sizes,
                         const std::function<size_t(QueuePlace place)>& count_in) {
  nodes_.Set(static_cast<int64_t>(sizes.nodes));
  pods_.Set(static_cast<int64_t>(sizes.pods));
  assumed_pods_.Set(static_cast<int64_t>(sizes.assumed_pods));
  bindings_.Set(static_cast<int64_t>(sizes.bindings));
  queue_.Publish(count_in);
}

}  // namespace berth::host
