#include "host/process/run/cluster_run.h"

#include <array>
#include <utility>

#include "host/base/emulated_version.h"
#include "host/base/hash.h"
#include "host/base/metrics.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/assemble/config_page.h"
#include "host/process/run/lease_event.h"

namespace berth::host {
namespace {

// How long the steps of an orderly end may take. Together they are shorter than the 30 seconds that
// a pod gets by default.
constexpr int64_t kSettleLimitNs = 10 * kSecond;
constexpr int64_t kStopLimitNs = 10 * kSecond;
constexpr int64_t kReleaseLimitNs = 5 * kSecond;
// How long answers are waited for after the lease was lost.
constexpr int64_t kLostLimitNs = kSecond;

}  // namespace

ClusterRun::ClusterRun(ClusterRunOptions options)
    : ClusterDriver(
          {.flush = options.flush, .boot_ns = options.boot_ns, .settle_limit_ns = kSettleLimitNs}),
      options_(std::move(options)),
      identity_(options_.host_name + "_" + options_.uuid),
      // The clock counts the time in which the machine sleeps, so that the times of events and
      // leases stay right.
      session_(options_, {.logger = "run", .log_level = BERTH_LOG_INFO, .reloads = true}, *this,
               options_.boot_ns) {}

// A plugin may wait for an answer of the client when the scheduler is destroyed.
ClusterRun::~ClusterRun() {
  if (serving_.has_value()) serving_->ClearState();
  session_.StopClient(0);
}

// ---- Opening ------------------------------------------------------------------------------------

Status ClusterRun::Open() {
  if (Status status = session_.Open(); !status.ok()) return status;
  first_profile_ = session_.set().specs.front().scheduler_name;
  const ClusterConfig& config = session_.host().cluster;
  election_ = ElectionOptionsOf(config, identity_);
  elects_ = options_.leader_elect.value_or(config.leader_elect.value_or(true));
  if (elects_) {
    if (Status status = CheckElectionOptions(election_); !status.ok()) return status;
  }
  const Result<ClusterAccess> access = session_.FindAccess();
  if (!access.ok()) return access.status();
  session_.log().Info("Starting",
                      {{"version", options_.version},
                       {"emulatedVersion", ToString(EmulatedVersionOf(session_.host()))},
                       {"server", access->endpoint.server.ToString()},
                       {"access", access->source},
                       {"seed", std::to_string(options_.seed)}});
  session_.LogWarnings(access->warnings);
  if (Status status = OpenServing(); !status.ok()) return status;
  if (Status status = Connect(*access); !status.ok()) return status;
  return OpenScheduler();
}

Status ClusterRun::OpenServing() {
  serving_.emplace(metrics_, ClusterServing::Options{
                                 .version = options_.version,
                                 .emulated_version = ToString(EmulatedVersionOf(session_.host())),
                                 .lease_ns = elects_ ? election_.lease_ns : 0,
                                 .steady_ns = options_.steady_ns,
                                 .boot_ns = options_.boot_ns});
  const std::string address = HttpAddress();
  ShowConfig(session_.set());
  if (address.empty()) return {};
  Status status = serving_->Listen(address, session_.LogOf("http"));
  if (!status.ok()) return status;
  session_.log().Info("Serving health checks and metrics", {{"address", serving_->address()}});
  return status;
}

std::string ClusterRun::HttpAddress() const {
  return options_.http_address.value_or(
      session_.host().cluster.http_address.value_or(std::string(kDefaultHttpAddress)));
}

void ClusterRun::ShowConfig(const ProfileSet& set) {
  serving_->SetConfig(ConfigPage({.version = options_.version,
                                  .elects = elects_,
                                  .http_address = HttpAddress(),
                                  .kubeconfig = session_.kubeconfig()},
                                 session_.host(), set));
}

Status ClusterRun::Connect(const ClusterAccess& access) {
  KubernetesClient::Options client;
  client.seed = HashBytes(identity_);
  client.events_queue.host_name = options_.host_name;
  ConnectionOptions options = ConnectionOptionsOf(session_.host().cluster);
  options.wait_after_failure = [this](const Status& status, int64_t delay_ns) {
    serving_->SetStartProblem(status.Annotate("cannot get the credentials"));
    session_.WaitAfterFailure(status, delay_ns);
  };
  Status status = session_.Connect(access, options, client_metrics_, std::move(client));
  serving_->SetStartProblem({});
  return status;
}

Status ClusterRun::OpenScheduler() {
  SchedulerOptions options = session_.TakeSchedulerOptions(session_.clock());
  options.loop.metrics = &scheduler_metrics_;
  options.loop.on_quarantine = [this](const auto& plugin) { OnQuarantine(plugin); };
  options.bind_threads = kBindThreads;
  ObjectSource* source = &session_.client();
  if (options_.on_decision) {
    reporter_.emplace(session_.clock(), [this](const DecisionLine& line) {
      if (!options_.on_decision(line)) OnOutputFailed();
    });
    options.loop.sink = &*reporter_;
    source = &reporter_->Follow(*source);
  }
  scheduler_.emplace(session_.interner(), Client(*source, session_.client()), std::move(options));
  Status status = scheduler_->Start();
  if (status.ok() && reporter_.has_value()) reporter_->Attach(scheduler_->loop());
  return status;
}

// ---- Rounds -------------------------------------------------------------------------------------

void ClusterRun::Refresh(std::function<void()> done) {
  static constexpr std::array<std::string_view, 2> kKinds = {kPodKind, kNodeKind};
  if (!elects_) return done();
  session_.client().Refresh(kKinds, std::move(done));
}

bool ClusterRun::HasRoom() const {
  return session_.client().open_bindings() < MaxOpenBindings(session_.host().cluster);
}

void ClusterRun::BeforeStep() {
  if (!start_memory_.are_all_complete()) start_memory_.OnWatches(session_.client().Watches());
  start_memory_.OnTime(options_.boot_ns());
  session_.ReloadIfRequested(*scheduler_, [this](const ProfileSet& set) {
    ShowConfig(set);
    if (reporter_.has_value()) reporter_->ReportGatedPods();
  });
}

void ClusterRun::AfterStep() {
  if (reporter_.has_value()) reporter_->ReportWaitingPods();
}

void ClusterRun::OnScheduling(int64_t took_ns) {
  start_memory_.OnScheduling(options_.boot_ns());
  const std::string took = FormatDuration(took_ns / kMillisecond * kMillisecond);
  const Log log = session_.log();
  if (!elects_) return log.Info("Scheduling", {{"took", took}});
  log.Info("Scheduling", {{"refreshed", "v1/Pod, v1/Node"}, {"took", took}});
}

// ---- Start and end ------------------------------------------------------------------------------

ClusterRunSummary ClusterRun::Run() {
  session_.Begin(*scheduler_);
  Lead();
  serving_->SetState(ServedStateOf(session_, *scheduler_, *this,
                                   leadership_.has_value() ? &*leadership_ : nullptr,
                                   client_metrics_));
  ClusterDriver::Run(scheduler_->loop(), session_.clock());
  const ClusterRunSummary summary = {.lost_lease = lost_lease(), .output_failed = output_failed()};
  End();
  return summary;
}

void ClusterRun::Lead() {
  if (!elects_) {
    session_.log().Info(
        "Scheduling without an election: no other scheduler may have the same profiles");
    session_.fence().OpenUntil(BindFence::kForever);
    return OnLeading();
  }
  leadership_.emplace(
      Leadership::Options{.leases = session_.leases(),
                          .wall = &session_.clock(),
                          .boot_ns = options_.boot_ns,
                          .fence = &session_.fence(),
                          .election = election_,
                          .scheduler = first_profile_,
                          .metrics = &client_metrics_,
                          .write_event = [this](Event event) { WriteEvent(std::move(event)); },
                          .on_started = [this] { OnElected(); },
                          .on_lost = [this](auto why) { OnLeaseLost(why); },
                          .last_progress_ns = [this] { return last_progress_ns(); },
                          .log = session_.LogOf("leaderElection")});
  leadership_->Start();
}

void ClusterRun::OnElected() {
  OnLeading();
  // Before, this process could write no events, but it called PreEnqueue plugins already.
  for (const PluginFaults::Quarantined& plugin : scheduler_->loop().faults().InQuarantine()) {
    OnQuarantine(plugin);
  }
}

void ClusterRun::OnQuarantine(const PluginFaults::Quarantined& plugin) {
  WriteEvent(QuarantineEvent(election_, plugin, session_.clock().NowNs()));
}

void ClusterRun::End() {
  const Log log = session_.log();
  if (const std::string why = lost_lease(); !why.empty()) {
    log.Error("Ending, because the lease was lost", why);
    // Nothing can be sent without a lease, so that only answers are waited for.
    session_.StopClient(kLostLimitNs);
  } else {
    log.Info("Stopping",
             {{"signal", std::to_string(signal())},
              {"unsettledBindings", std::to_string(scheduler_->loop().binding_count())}});
    session_.StopClient(kStopLimitNs);
    if (leadership_.has_value()) {
      if (leadership_->view().leads) log.Info("Releasing the lease");
      leadership_->Release(kReleaseLimitNs);
    }
  }
  serving_->ClearState();
  session_.End();
}

}  // namespace berth::host
