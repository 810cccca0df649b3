#include "host/process/run/cluster_run.h"

#include <array>
#include <utility>

#include "host/base/hash.h"
#include "host/base/metrics.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/run/cluster_driver.h"
#include "host/process/run/start_memory.h"
#include "host/process/run/unused_memory.h"

namespace berth::host {
namespace {

// How long the steps of an orderly end may take. Together they are shorter than the 30 seconds that
// a pod gets by default.
constexpr int64_t kSettleLimitNs = 10 * kSecond;
constexpr int64_t kStopLimitNs = 10 * kSecond;
constexpr int64_t kReleaseLimitNs = 5 * kSecond;
// How long answers are waited for after the lease was lost.
constexpr int64_t kLostLimitNs = kSecond;

// A leader whose renewal is older than leaseDuration and this is not healthy.
// (kube-scheduler: cmd/kube-scheduler/app/options, NewLeaderHealthzAdaptor with 20 seconds)
constexpr int64_t kRenewalToleranceNs = 20 * kSecond;

}  // namespace

// The rounds of this process.
class ClusterRun::Rounds final : public ClusterDriver {
 public:
  explicit Rounds(ClusterRun& run)
      : ClusterDriver(run.session_.waker(), {.flush = run.options_.flush,
                                             .boot_ns = run.options_.boot_ns,
                                             .settle_limit_ns = kSettleLimitNs}),
        run_(run) {}

 private:
  KubernetesClient& client() const { return run_.session_.client(); }

  size_t Deliver() override { return client().Deliver(); }
  void Refresh(std::function<void()> done) override {
    static constexpr std::array<std::string_view, 2> kKinds = {kPodKind, kNodeKind};
    if (!run_.election_.has_value()) return done();
    client().Refresh(kKinds, std::move(done));
  }
  bool HasRoom() const override {
    return client().open_bindings() < MaxOpenBindings(run_.session_.host().cluster);
  }
  void BeforeStep() override {
    if (!start_memory_.are_all_complete()) start_memory_.OnWatches(client().Watches());
    start_memory_.OnTime(run_.options_.boot_ns());
    run_.ReloadIfRequested();
  }
  void AfterStep() override {
    if (run_.reporter_.has_value()) run_.reporter_->ReportWaitingPods();
  }
  void OnScheduling(int64_t took_ns) override {
    start_memory_.OnScheduling(run_.options_.boot_ns());
    const std::string took = FormatDuration(took_ns / kMillisecond * kMillisecond);
    const Log log = run_.session_.log();
    if (!run_.election_.has_value()) return log.Info("Scheduling", {{"took", took}});
    log.Info("Scheduling", {{"refreshed", "v1/Pod, v1/Node"}, {"took", took}});
  }

  ClusterRun& run_;
  StartMemory start_memory_{ReleaseUnusedMemory};
};

ClusterRun::ClusterRun(ClusterRunOptions options)
    : options_(std::move(options)),
      // The clock counts the time in which the machine sleeps, so that the times of events and
      // leases stay right.
      session_(options_, {.logger = "run", .log_level = BERTH_LOG_INFO, .reloads = true},
               options_.boot_ns),
      driver_(std::make_unique<Rounds>(*this)) {}

// A plugin may wait for an answer of the client when the scheduler is destroyed.
ClusterRun::~ClusterRun() {
  if (serving_.has_value()) serving_->ClearState();
  session_.StopClient(0);
}

// ---- Opening ------------------------------------------------------------------------------------

Status ClusterRun::Open() {
  if (Status status = session_.Open(); !status.ok()) return status;
  if (Status status = ReadElection(); !status.ok()) return status;
  const Result<ClusterAccess> access = session_.FindAccess();
  if (!access.ok()) return access.status();
  session_.log().Info("Starting", {{"version", options_.version},
                                   {"server", access->endpoint.server.ToString()},
                                   {"access", access->source},
                                   {"seed", std::to_string(options_.seed)}});
  session_.LogWarnings(access->warnings);
  if (Status status = OpenServing(); !status.ok()) return status;
  if (Status status = Connect(*access); !status.ok()) return status;
  return OpenScheduler();
}

Status ClusterRun::ReadElection() {
  const ClusterConfig& config = session_.host().cluster;
  first_profile_ = session_.set().specs.front().scheduler_name;
  if (!options_.leader_elect.value_or(config.leader_elect.value_or(true))) return {};
  election_ = ElectionOptionsOf(config);
  election_->identity = options_.host_name + "_" + options_.uuid;
  election_->seed = HashBytes(election_->identity);
  return CheckElectionOptions(*election_);
}

Status ClusterRun::OpenServing() {
  const std::string address = options_.http_address.value_or(
      session_.host().cluster.http_address.value_or(std::string(kDefaultHttpAddress)));
  const int64_t renewal_limit_ns =
      election_.has_value() ? election_->lease_ns + kRenewalToleranceNs : 0;
  serving_.emplace(metrics_, ClusterServing::Options{.renewal_limit_ns = renewal_limit_ns,
                                                     .steady_ns = options_.steady_ns,
                                                     .boot_ns = options_.boot_ns});
  metrics_.AddGauge("berth_build_info", "The version of Berth; always 1.", {"version"})
      .With({options_.version})
      .Set(1);
  if (address.empty()) return {};
  if (Status status = serving_->Listen(address, session_.LogOf("http")); !status.ok()) {
    return status;
  }
  session_.log().Info("Serving health checks and metrics", {{"address", serving_->address()}});
  return {};
}

Status ClusterRun::Connect(const ClusterAccess& access) {
  ConnectionOptions options;
  const ClusterConfig& config = session_.host().cluster;
  options.write_connections = config.connections.value_or(options.write_connections);
  options.qps = config.qps.value_or(0);
  options.burst = config.burst.value_or(0);
  KubernetesClient::Options client;
  client.seed = HashBytes(options_.host_name + "_" + options_.uuid);
  client.events_queue.host_name = options_.host_name;
  return session_.Connect(access, options, client_metrics_, std::move(client));
}

Status ClusterRun::OpenScheduler() {
  SchedulerOptions options = session_.TakeSchedulerOptions(session_.clock());
  options.loop.metrics = &scheduler_metrics_;
  options.bind_threads = kBindThreads;
  ObjectSource* source = &session_.client();
  if (options_.on_decision) {
    reporter_.emplace(session_.clock(), [this](const DecisionLine& line) {
      if (!options_.on_decision(line)) driver_->OnOutputFailed();
    });
    options.loop.sink = &*reporter_;
    source = &tee_.emplace(session_.client(), reporter_->pods());
  }
  scheduler_ = std::make_unique<SchedulerHost>(
      session_.interner(), Client(*source, session_.client()), std::move(options));
  Status status = scheduler_->Start();
  if (status.ok() && reporter_.has_value()) reporter_->Attach(scheduler_->loop());
  return status;
}

// ---- Running ------------------------------------------------------------------------------------

ClusterRunSummary ClusterRun::Run() {
  session_.Begin(*scheduler_, *driver_);
  Lead();
  serving_->SetState(MakeServedState());
  driver_->Run(scheduler_->loop(), session_.clock());
  const ClusterRunSummary summary = {.signal = driver_->signal(),
                                     .lost_lease = driver_->lost_lease(),
                                     .output_failed = driver_->output_failed(),
                                     .unsettled = scheduler_->loop().binding_count()};
  End();
  return summary;
}

void ClusterRun::Lead() {
  if (!election_.has_value()) {
    session_.log().Info(
        "Scheduling without an election: no other scheduler may have the same profiles");
    session_.fence().OpenUntil(BindFence::kForever);
    return driver_->OnLeading();
  }
  leadership_ =
      std::make_unique<Leadership>(Leadership::Options{.leases = session_.leases(),
                                                       .wall = &session_.clock(),
                                                       .boot_ns = options_.boot_ns,
                                                       .fence = &session_.fence(),
                                                       .election = *election_,
                                                       .callbacks = MakeElectionCallbacks(),
                                                       .log = session_.LogOf("leaderElection")});
  leadership_->Start();
}

LeaderElector::Callbacks ClusterRun::MakeElectionCallbacks() {
  LeaderElector::Callbacks callbacks;
  callbacks.on_started = [this](int64_t) {
    client_metrics_.leader.With({election_->name}).Set(1);
    session_.client().CreateEvent(
        LeadingEvent(*election_, first_profile_, session_.clock().NowNs()), {});
    driver_->OnLeading();
  };
  callbacks.on_lost = [this](std::string_view why) {
    client_metrics_.leader.With({election_->name}).Set(0);
    driver_->OnLeaseLost(std::string(why));
  };
  callbacks.on_slow_path = [this] { client_metrics_.slow_path.With({election_->name}).Add(); };
  callbacks.last_progress_ns = [this] { return driver_->last_progress_ns(); };
  return callbacks;
}

ServedState ClusterRun::MakeServedState() {
  ServedState state;
  state.watches = [this] { return session_.client().Watches(); };
  if (leadership_ != nullptr) state.leadership = [this] { return leadership_->view(); };
  state.quarantined = [this] { return scheduler_->loop().faults().InQuarantine(); };
  state.has_stuck_call = [this] { return scheduler_->HasStuckCall(); };
  state.last_progress_ns = [this] { return driver_->last_progress_ns(); };
  state.is_stopping = [this] { return driver_->is_ending(); };
  state.plugin_metrics = [this] { return ToText(scheduler_->loop().metrics().Read()); };
  state.refresh_metrics = [this] {
    const KubernetesClient& client = session_.client();
    client_metrics_.Update({.watches = client.Watches(),
                            .pods = client.pod_counts(),
                            .events = client.event_counts(),
                            .fence_refusals = session_.fence().refusals()});
  };
  state.set_log_level = [this](std::string_view text) {
    const Result<uint32_t> level = ReadLogLevel(text);
    if (level.ok()) session_.SetLogLevel(*level);
    return level.status();
  };
  return state;
}

void ClusterRun::ReloadIfRequested() {
  session_.ReloadIfRequested(
      [this](const ProfileSet& set) {
        Status status = session_.Reload(set, *scheduler_);
        if (status.ok() && reporter_.has_value()) reporter_->ReportGatedPods();
        return status;
      },
      [this](const ReloadResult& result) { LogReload(result); });
}

void ClusterRun::LogReload(const ReloadResult& result) {
  const Log log = session_.log();
  const std::string changed = Join(result.changed, ", ");
  if (!result.status.ok()) {
    return log.Error("Cannot reload; the running configuration is kept", result.status.message(),
                     {{"changed", changed}});
  }
  log.Info("Reloaded", {{"profiles", Join(result.profiles, ", ")}, {"changed", changed}});
  if (result.needs_restart.empty()) return;
  log.Warning("Some changes take effect only at a restart",
              {{"keys", Join(result.needs_restart, ", ")}});
}

void ClusterRun::End() {
  const Log log = session_.log();
  const std::string lost_lease = driver_->lost_lease();
  if (!lost_lease.empty()) {
    log.Error("Ending, because the lease was lost", lost_lease);
    // Nothing can be sent without a lease, so that only answers are waited for.
    session_.StopClient(kLostLimitNs);
  } else {
    log.Info("Stopping",
             {{"signal", std::to_string(driver_->signal())},
              {"unsettledBindings", std::to_string(scheduler_->loop().binding_count())}});
    session_.StopClient(kStopLimitNs);
    if (leadership_ != nullptr) {
      if (leadership_->view().leads) log.Info("Releasing the lease");
      leadership_->Release(kReleaseLimitNs);
    }
  }
  serving_->ClearState();
  session_.End();
}

}  // namespace berth::host
