#include "host/process/shadow/shadow_run.h"

#include <algorithm>
#include <utility>

#include "host/process/assemble/driver.h"

namespace berth::host {

// Judges what is due, until a stop is requested or the duration has ended.
class ShadowRun::Rounds final : public Driver {
 public:
  explicit Rounds(ShadowRun& run) : Driver(run.session_.waker(), run.options_.flush), run_(run) {}

  void Run() { RunRounds(); }

 private:
  int64_t NowNs() const { return run_.session_.clock().NowNs(); }
  // Returns when the run ends.
  int64_t EndNs() const {
    const int64_t longest_ns = INT64_MAX - run_.start_ns_;
    return run_.start_ns_ + std::min(run_.options_.duration_ns.value_or(longest_ns), longest_ns);
  }

  bool IsDone() override { return is_stop_requested() || NowNs() >= EndNs(); }
  bool RunRound() override {
    bool did = run_.session_.client().Deliver() > 0;
    did |= run_.scheduler_->Step();
    if (!run_.has_begun_ && run_.scheduler_->has_begun()) run_.LogBegin();
    return did;
  }
  void Wait() override {
    const int64_t until_ns = std::min(EndNs(), run_.scheduler_->NextStepNs().value_or(INT64_MAX));
    waker().Wait(until_ns == INT64_MAX ? INT64_MAX : until_ns - NowNs());
  }

  ShadowRun& run_;
};

ShadowRun::ShadowRun(ShadowRunOptions options)
    : options_(std::move(options)),
      session_(options_, {.logger = "shadow", .log_level = BERTH_LOG_WARN, .reloads = false},
               options_.steady_ns),
      start_ns_(session_.clock().NowNs()),
      driver_(std::make_unique<Rounds>(*this)) {}

ShadowRun::~ShadowRun() = default;

Status ShadowRun::Open() {
  if (Status status = session_.Open(); !status.ok()) return status;
  const Result<ClusterAccess> access = session_.FindAccess();
  if (!access.ok()) return access.status();
  session_.LogWarnings(access->warnings);
  KubernetesClient::Options client;
  client.seed = options_.seed;
  Status status = session_.Connect(*access, {}, transports_, std::move(client));
  return status.ok() ? OpenScheduler() : status;
}

Status ShadowRun::OpenScheduler() {
  scheduler_ = std::make_unique<ShadowScheduler>(
      session_.interner(), session_.client(), session_.TakeSchedulerOptions(session_.clock()),
      options_.observing,
      [this](const ShadowDecision& decision) {
        if (!options_.on_decision(decision)) driver_->OnOutputFailed();
      },
      [this] { session_.waker().Wake(); });
  return scheduler_->Start();
}

Status ShadowRun::Run() {
  session_.Begin(scheduler_->host(), *driver_);
  driver_->Run();
  scheduler_->Finish();
  session_.End();
  took_ns_ = session_.clock().NowNs() - start_ns_;
  return has_begun_ || driver_->output_failed() ? Status() : NotBegun();
}

void ShadowRun::LogBegin() {
  has_begun_ = true;
  const Cache& cache = scheduler_->host().loop().cache();
  session_.log().Info("Judging placements", {{"nodes", std::to_string(cache.table().node_count())},
                                             {"podsOnNodes", std::to_string(cache.pod_count())}});
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
  return {.totals = scheduler_->totals(),
          .refused = scheduler_->refused(),
          .took_ns = took_ns_,
          .output_failed = driver_->output_failed()};
}

}  // namespace berth::host
