#include "host/process/shadow/shadow_run.h"

#include <algorithm>
#include <span>
#include <utility>

#include "host/base/emulated_version.h"

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
                                 ShadowObserver::Listener listener)
    : clock_(*options.loop.clock),
      observing_(WithNames(std::move(observing), options.profiles)),
      listener_(std::move(listener)),
      client_(
          cluster,
          [this](const std::shared_ptr<ShadowRoute>& route, std::span<WatchEvent> events) {
            observer_->Receive(route, events);
          },
          [waker = options.loop.waker] {
            if (waker != nullptr) waker->Wake();
          }),
      host_(interner, client_, WithoutPostFilter(std::move(options))) {}

Status ShadowScheduler::Start() {
  Status status = host_.Start();
  if (status.ok()) observer_.emplace(host_.loop(), clock_, observing_, listener_);
  return status;
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

// ---- ShadowRun ----------------------------------------------------------------------------------

ShadowRun::ShadowRun(ShadowRunOptions options)
    : Driver(options.flush),
      options_(std::move(options)),
      session_(options_, {.logger = "shadow", .log_level = BERTH_LOG_WARN, .reloads = false}, *this,
               options_.steady_ns),
      start_ns_(NowNs()) {}

// A plugin may wait for an answer of the client when the scheduler is destroyed.
ShadowRun::~ShadowRun() { session_.StopClient(0); }

Status ShadowRun::Open() {
  if (Status status = session_.Open(); !status.ok()) return status;
  const Result<ClusterAccess> access = session_.FindAccess();
  if (!access.ok()) return access.status();
  session_.LogWarnings(access->warnings);
  KubernetesClient::Options client;
  client.seed = options_.seed;
  ConnectionOptions options;
  options.wait_after_failure = [this](const Status& status, int64_t delay_ns) {
    session_.WaitAfterFailure(status, delay_ns);
  };
  Status status = session_.Connect(*access, options, transports_, std::move(client));
  if (!status.ok()) return status;
  scheduler_.emplace(session_.interner(), session_.client(),
                     session_.TakeSchedulerOptions(session_.clock()), options_.observing,
                     [this](const ShadowDecision& decision) {
                       if (!options_.on_decision(decision)) OnOutputFailed();
                     });
  return scheduler_->Start();
}

// ---- Rounds -------------------------------------------------------------------------------------

int64_t ShadowRun::EndNs() const {
  const int64_t longest_ns = INT64_MAX - start_ns_;
  return start_ns_ + std::min(options_.duration_ns.value_or(longest_ns), longest_ns);
}

bool ShadowRun::IsDone() { return is_stop_requested() || NowNs() >= EndNs(); }

bool ShadowRun::RunRound() {
  bool did = session_.client().Deliver() > 0;
  did |= scheduler_->Step();
  if (!has_begun_ && scheduler_->has_begun()) LogBegin();
  return did;
}

void ShadowRun::Wait() {
  const int64_t until_ns = std::min(EndNs(), scheduler_->NextStepNs().value_or(INT64_MAX));
  waker().Wait(until_ns == INT64_MAX ? INT64_MAX : until_ns - NowNs());
}

void ShadowRun::LogBegin() {
  has_begun_ = true;
  const Cache& cache = scheduler_->host().loop().cache();
  session_.log().Info("Judging placements",
                      {{"emulatedVersion", ToString(EmulatedVersionOf(session_.host()))},
                       {"nodes", std::to_string(cache.table().node_count())},
                       {"podsOnNodes", std::to_string(cache.pod_count())}});
}

// ---- Start and end ------------------------------------------------------------------------------

Status ShadowRun::Run() {
  session_.Begin(scheduler_->host());
  RunRounds();
  scheduler_->Finish();
  session_.End();
  took_ns_ = NowNs() - start_ns_;
  return has_begun_ || output_failed() ? Status() : NotBegun();
}

Status ShadowRun::NotBegun() {
  std::string text;
  for (const WatchState& watch : session_.client().Watches()) {
    if (watch.is_synced) continue;
    text.append(text.empty() ? "" : "\n").append(watch.kind);
    text.append(": expected to receive all objects before the end of the run, found ");
    text.append(watch.error.ok() ? "that they have not arrived" : watch.error.message());
  }
  if (text.empty()) text = "the run ended before the objects of the cluster were received";
  return Status::Unavailable(std::move(text));
}

ShadowSummary ShadowRun::Summary() const {
  return {.emulated_version = EmulatedVersionOf(session_.host()),
          .totals = scheduler_->totals(),
          .refused = scheduler_->refused(),
          .took_ns = took_ns_,
          .output_failed = output_failed()};
}

}  // namespace berth::host
