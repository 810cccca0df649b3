#include "host/process/run/cluster_run.h"

#include <array>
#include <mutex>
#include <utility>

#include "host/base/duration.h"
#include "host/base/hash.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/real_clock.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/client_metrics.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/cycle/cycle_meter.h"
#include "host/event/inbox.h"
#include "host/process/assemble/cluster_settings.h"
#include "host/process/assemble/config_reloader.h"
#include "host/process/assemble/decision_reporter.h"
#include "host/process/assemble/kind_users.h"
#include "host/process/log/log_output.h"
#include "host/process/run/cluster_driver.h"
#include "host/process/run/cluster_serving.h"
#include "host/process/run/leadership.h"
#include "host/process/run/pod_tee.h"
#include "host/process/run/start_memory.h"
#include "host/process/run/unused_memory.h"
#include "host/runtime/services/metric_store.h"

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

constexpr std::string_view kRunLogger = "run";

// The users of kinds, for messages of the client's threads.
// Threading: any.
class SharedKindUsers {
 public:
  void Set(KindUsers users) {
    const std::lock_guard lock(mutex_);
    users_ = std::move(users);
  }
  KindUsers Get() const {
    const std::lock_guard lock(mutex_);
    return users_;
  }
  std::string Of(std::string_view kind) const {
    const std::lock_guard lock(mutex_);
    return users_.Of(kind);
  }

 private:
  mutable std::mutex mutex_;
  KindUsers users_;  // Guarded by mutex_.
};

// The event that a process writes about its lease when it begins to lead.
// (client-go: tools/leaderelection/resourcelock/leaselock.go, RecordEvent)
Event LeadingEvent(const ElectionOptions& election, std::string_view scheduler, int64_t time_ns) {
  Event event;
  event.type = "Normal";
  event.reason = "LeaderElection";
  event.action = "LeaderElection";
  event.note = TruncateNote(election.identity + " became leader");
  event.regarding.api_version = "coordination.k8s.io/v1";
  event.regarding.kind = "Lease";
  event.regarding.ns = election.ns;
  event.regarding.name = election.name;
  event.reporting_controller = scheduler;
  event.time_ns = time_ns;
  return event;
}

}  // namespace

// The members are destroyed in the reverse order: each one outlives those after it, which use it.
struct ClusterRun::Parts {
  explicit Parts(ClusterRunOptions given)
      : options(std::move(given)),
        libraries(MakeLibraryStore(options.temporary_directory, options.steady_ns)),
        reloader(
            [this](FileStamps& files) { return ReadRunConfig(options.config, libraries, files); },
            waker),
        interner(options.hash_key),
        client_metrics(metrics),
        scheduler_metrics(metrics),
        fence(options.boot_ns) {}
  ~Parts();

  // ---- Opening ----
  Status Open();
  Status ReadConfig(SchedulerOptions& scheduler);
  void OpenLog();
  Result<ClusterAccess> FindAccess();
  Status OpenServing();
  Status OpenConnection(const ClusterAccess& access);
  void OpenClient(const PluginSet& plugins);
  Status OpenScheduler(SchedulerOptions scheduler);

  // ---- Running ----
  ClusterRunSummary Run();
  void CreateDriver();
  void ReleaseStartMemory();
  void CreateLeadership();
  ServedState MakeServedState();
  void Lead();
  void End(const DriverEnd& end);
  void StopClient(int64_t limit_ns);

  Log LogOf(std::string_view logger) { return {*log, logger}; }
  const HostConfig& host() const { return reloader.running(); }
  uint32_t LogLevelOf(const HostConfig& config) const;
  void SetLogLevel(uint32_t level);
  void OnDecision(const DecisionLine& line);
  void LogWarnings(const std::vector<std::string>& warnings);
  void ReloadIfRequested();
  Status Reload(const ProfileSet& set);
  void LogReload(const ReloadResult& result);

  const ClusterRunOptions options;
  const std::shared_ptr<LibraryStore> libraries;
  ThreadWaker waker;
  ConfigReloader reloader;
  std::optional<LogOutput> log;
  std::optional<RealClock> clock;
  Interner interner;
  MetricTable metrics;
  ClientMetrics client_metrics;
  SchedulerMetrics scheduler_metrics;
  SharedKindUsers kind_users;
  BindFence fence;
  std::string first_profile;  // Its schedulerName at the start.
  bool elects = true;
  ElectionOptions election;
  std::optional<ClusterServing> serving;
  std::unique_ptr<KubernetesConnection> connection;
  std::unique_ptr<KubernetesClient> client;
  std::optional<DecisionReporter> reporter;  // Set if options.on_decision is.
  std::optional<PodTee> tee;                 // Set if `reporter` is.
  std::unique_ptr<SchedulerHost> scheduler;
  std::unique_ptr<ClusterDriver> driver;
  std::unique_ptr<Leadership> leadership;
  std::unique_ptr<ProcessRequests> requests;
  StartMemory start_memory{ReleaseUnusedMemory};
  bool is_stopped = false;  // The client was stopped.
};

// ---- Opening ------------------------------------------------------------------------------------

Status ClusterRun::Parts::Open() {
  if (options.requests) requests = options.requests([this] { reloader.Request(); });
  SchedulerOptions scheduler_options;
  if (Status status = ReadConfig(scheduler_options); !status.ok()) return status;
  Result<ClusterAccess> access = FindAccess();
  if (!access.ok()) return std::move(access).status();
  LogOf(kRunLogger)
      .Info("Starting", {{"version", options.version},
                         {"server", access->endpoint.server.ToString()},
                         {"access", access->source},
                         {"seed", std::to_string(options.seed)}});
  LogWarnings(access->warnings);
  if (Status status = OpenServing(); !status.ok()) return status;
  if (Status status = OpenConnection(*access); !status.ok()) return status;
  OpenClient(*scheduler_options.plugins);
  return OpenScheduler(std::move(scheduler_options));
}

Status ClusterRun::Parts::ReadConfig(SchedulerOptions& scheduler_options) {
  Result<RunConfig> config = reloader.ReadFirst();
  if (!config.ok()) return std::move(config).status();
  // The clock counts the time in which the machine sleeps, so that the times of events and leases
  // stay right.
  clock.emplace(options.wall_ns(), options.boot_ns).Begin();
  OpenLog();
  LogWarnings(config->set.warnings);
  kind_users.Set(KindUsers(config->set.plugins->catalog(), config->set.specs));
  election = ElectionOptionsOf(host().cluster);
  election.identity = options.host_name + "_" + options.uuid;
  election.seed = HashBytes(election.identity);
  elects = options.leader_elect.value_or(host().cluster.leader_elect.value_or(true));
  first_profile = config->set.specs.front().scheduler_name;
  scheduler_options.plugins = std::move(config->set.plugins);
  scheduler_options.profiles = std::move(config->set.specs);
  ApplyHostFile(host(), scheduler_options.loop);
  return elects ? CheckElectionOptions(election) : Status();
}

uint32_t ClusterRun::Parts::LogLevelOf(const HostConfig& config) const {
  return options.log_level.value_or(config.log_level.value_or(BERTH_LOG_INFO));
}

void ClusterRun::Parts::SetLogLevel(uint32_t level) {
  log->SetLevel(level);
  scheduler->loop().UpdateLogLevel();
}

void ClusterRun::Parts::OpenLog() {
  const bool is_json = host().cluster.log_format == "json";
  log.emplace(LogOutput::Options{
      .format = options.log_format.value_or(is_json ? LogFormat::kJsonLines : LogFormat::kKlog),
      .level = LogLevelOf(host()),
      .wall_ns = options.wall_ns,
      .descriptor = options.log_descriptor,
      .pid = options.pid});
}

Result<ClusterAccess> ClusterRun::Parts::FindAccess() {
  return FindClusterAccess(WithHostFile(options.access, host().cluster),
                           options.access_environment);
}

Status ClusterRun::Parts::OpenServing() {
  const std::string address = options.http_address.value_or(
      host().cluster.http_address.value_or(std::string(kDefaultHttpAddress)));
  serving.emplace(metrics,
                  ClusterServing::Options{
                      .renewal_limit_ns = elects ? election.lease_ns + kRenewalToleranceNs : 0,
                      .steady_ns = options.steady_ns,
                      .boot_ns = options.boot_ns});
  metrics.AddGauge("berth_build_info", "The version of Berth; always 1.", {"version"})
      .With({options.version})
      .Set(1);
  if (address.empty()) return {};
  if (Status status = serving->Listen(address, LogOf("http")); !status.ok()) return status;
  LogOf(kRunLogger).Info("Serving health checks and metrics", {{"address", serving->address()}});
  return {};
}

Status ClusterRun::Parts::OpenConnection(const ClusterAccess& access) {
  ConnectionOptions connection_options;
  const ClusterConfig& config = host().cluster;
  connection_options.write_connections =
      config.connections.value_or(connection_options.write_connections);
  connection_options.qps = config.qps.value_or(0);
  connection_options.burst = config.burst.value_or(0);
  connection_options.user_agent = UserAgentOf(options.version);
  auto opened = KubernetesConnection::Open(access, connection_options, options.credentials,
                                           client_metrics, *log);
  if (!opened.ok()) return std::move(opened).status();
  connection = std::move(opened).value();
  return {};
}

void ClusterRun::Parts::OpenClient(const PluginSet& plugins) {
  KubernetesClient::Options client_options;
  client_options.reads = connection->reads();
  client_options.writes = connection->writes();
  client_options.events = connection->events();
  client_options.wall = &*clock;
  client_options.fence = &fence;
  client_options.decode = DecodeOptionsFor(plugins);
  client_options.seed = HashBytes(election.identity);
  client_options.wake = [this] { waker.Wake(); };
  client_options.needed_by = [this](std::string_view kind) { return kind_users.Of(kind); };
  client_options.events_queue.host_name = options.host_name;
  client = std::make_unique<KubernetesClient>(interner, std::move(client_options), LogOf("client"));
}

Status ClusterRun::Parts::OpenScheduler(SchedulerOptions scheduler_options) {
  ObjectSource* source = client.get();
  if (options.on_decision) {
    reporter.emplace(*clock, [this](const DecisionLine& line) { OnDecision(line); });
    scheduler_options.loop.sink = &*reporter;
    source = &tee.emplace(*client, reporter->pods());
  }
  scheduler_options.hash_key = options.hash_key;
  scheduler_options.loop.seed = options.seed;
  scheduler_options.loop.reuse.is_checked = options.checks_reuse;
  scheduler_options.loop.clock = &*clock;
  scheduler_options.loop.waker = &waker;
  scheduler_options.loop.log = &*log;
  scheduler_options.loop.metrics = &scheduler_metrics;
  scheduler_options.bind_threads = kBindThreads;
  scheduler_options.report_crashes = options.report_crashes;
  scheduler = std::make_unique<SchedulerHost>(interner, Client(*source, *client),
                                              std::move(scheduler_options));
  Status status = scheduler->Start();
  if (status.ok() && reporter.has_value()) reporter->Attach(scheduler->loop());
  return status;
}

// ---- Running ------------------------------------------------------------------------------------

ClusterRunSummary ClusterRun::Parts::Run() {
  CreateDriver();
  if (requests != nullptr) requests->OnStop([this](int signal) { driver->RequestStop(signal); });
  if (elects) CreateLeadership();
  reloader.StartWatching();
  scheduler->StartWatchdog(DeadlinesOf(host()), options.steady_ns);
  serving->SetState(MakeServedState());
  Lead();
  const DriverEnd end = driver->Run();
  End(end);
  return {.signal = end.signal,
          .lost_lease = end.lost_lease,
          .output_failed = end.output_failed,
          .unsettled = end.unsettled};
}

void ClusterRun::Parts::CreateDriver() {
  ClusterDriver::Parts parts;
  parts.loop = &scheduler->loop();
  parts.clock = &*clock;
  parts.waker = &waker;
  parts.deliver = [this] { return client->Deliver(); };
  parts.has_room = [this, limit = MaxOpenBindings(host().cluster)] {
    return client->open_bindings() < limit;
  };
  if (elects) {
    parts.refresh = [this](std::function<void()> done) {
      static constexpr std::array<std::string_view, 2> kKinds = {kPodKind, kNodeKind};
      client->Refresh(kKinds, std::move(done));
    };
  }
  parts.before_step = [this] {
    ReleaseStartMemory();
    ReloadIfRequested();
  };
  if (reporter.has_value()) parts.after_step = [this] { reporter->ReportWaitingPods(); };
  parts.flush = options.flush;
  parts.on_scheduling = [this](int64_t took_ns) {
    start_memory.OnScheduling(options.boot_ns());
    const std::string took = FormatDuration(took_ns / kMillisecond * kMillisecond);
    if (elects) {
      LogOf(kRunLogger).Info("Scheduling", {{"refreshed", "v1/Pod, v1/Node"}, {"took", took}});
    } else {
      LogOf(kRunLogger).Info("Scheduling", {{"took", took}});
    }
  };
  parts.boot_ns = options.boot_ns;
  parts.settle_limit_ns = kSettleLimitNs;
  driver = std::make_unique<ClusterDriver>(std::move(parts));
}

void ClusterRun::Parts::ReleaseStartMemory() {
  if (!start_memory.are_all_complete()) start_memory.OnWatches(client->Watches());
  start_memory.OnTime(options.boot_ns());
}

void ClusterRun::Parts::CreateLeadership() {
  Leadership::Parts parts;
  parts.leases = connection->leases();
  parts.wall = &*clock;
  parts.boot_ns = options.boot_ns;
  parts.fence = &fence;
  parts.election = election;
  parts.log = LogOf("leaderElection");
  parts.callbacks.on_started = [this](int64_t) {
    client_metrics.leader.With({election.name}).Set(1);
    client->CreateEvent(LeadingEvent(election, first_profile, clock->NowNs()), {});
    driver->OnLeading();
  };
  parts.callbacks.on_lost = [this](std::string_view why) {
    client_metrics.leader.With({election.name}).Set(0);
    driver->OnLeaseLost(std::string(why));
  };
  parts.callbacks.on_slow_path = [this] { client_metrics.slow_path.With({election.name}).Add(); };
  parts.callbacks.last_progress_ns = [this] { return driver->last_progress_ns(); };
  leadership = std::make_unique<Leadership>(std::move(parts));
}

ServedState ClusterRun::Parts::MakeServedState() {
  ServedState state;
  state.watches = [this] { return client->Watches(); };
  if (leadership != nullptr) state.leadership = [this] { return leadership->view(); };
  state.quarantined = [this] { return scheduler->loop().faults().InQuarantine(); };
  state.has_stuck_call = [this] { return scheduler->HasStuckCall(); };
  state.last_progress_ns = [this] { return driver->last_progress_ns(); };
  state.is_stopping = [this] { return driver->is_stopping(); };
  state.plugin_metrics = [this] { return ToText(scheduler->loop().metrics().Read()); };
  state.refresh_metrics = [this] {
    client_metrics.Update({.watches = client->Watches(),
                           .pods = client->pod_counts(),
                           .events = client->event_counts(),
                           .fence_refusals = fence.refusals()});
  };
  state.set_log_level = [this](std::string_view text) {
    const Result<uint32_t> level = ReadLogLevel(text);
    if (level.ok()) SetLogLevel(*level);
    return level.status();
  };
  return state;
}

void ClusterRun::Parts::Lead() {
  if (leadership != nullptr) return leadership->Start();
  LogOf(kRunLogger)
      .Info(
          "Scheduling without an election: no other scheduler may have the same "
          "profiles");
  fence.OpenUntil(BindFence::kForever);
  driver->OnLeading();
}

void ClusterRun::Parts::End(const DriverEnd& end) {
  const Log run_log = LogOf(kRunLogger);
  reloader.StopWatching();
  if (!end.lost_lease.empty()) {
    run_log.Error("Ending, because the lease was lost", end.lost_lease);
  } else {
    run_log.Info("Stopping", {{"signal", std::to_string(end.signal)},
                              {"unsettledBindings", std::to_string(end.unsettled)}});
  }
  // Nothing can be sent without a lease, so that only answers are waited for.
  StopClient(end.lost_lease.empty() ? kStopLimitNs : kLostLimitNs);
  if (leadership != nullptr && end.lost_lease.empty()) {
    if (leadership->view().leads) run_log.Info("Releasing the lease");
    leadership->Release(kReleaseLimitNs);
  }
  serving->ClearState();
  scheduler->StopWatchdog();
  requests.reset();
}

void ClusterRun::Parts::StopClient(int64_t limit_ns) {
  if (client == nullptr || std::exchange(is_stopped, true)) return;
  client->Stop(limit_ns);
}

ClusterRun::Parts::~Parts() {
  if (serving.has_value()) serving->ClearState();
  StopClient(0);
}

// ---- Reports ------------------------------------------------------------------------------------

void ClusterRun::Parts::OnDecision(const DecisionLine& line) {
  if (!options.on_decision(line)) driver->OnOutputFailed();
}

void ClusterRun::Parts::LogWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) LogOf(kRunLogger).Warning(warning);
}

void ClusterRun::Parts::ReloadIfRequested() {
  reloader.ReloadIfRequested([this](const ProfileSet& set) { return Reload(set); },
                             [this](const ReloadResult& result) { LogReload(result); });
}

Status ClusterRun::Parts::Reload(const ProfileSet& set) {
  LogWarnings(set.warnings);
  const KindUsers before = kind_users.Get();
  kind_users.Set(KindUsers(set.plugins->catalog(), set.specs));
  Status status = scheduler->Reload(set.plugins, set.specs);
  if (!status.ok()) {
    kind_users.Set(before);
    return status;
  }
  if (reporter.has_value()) reporter->ReportGatedPods();
  return {};
}

void ClusterRun::Parts::LogReload(const ReloadResult& result) {
  const Log run_log = LogOf(kRunLogger);
  const std::string changed = Join(result.changed, ", ");
  if (!result.status.ok()) {
    run_log.Error("Cannot reload; the running configuration is kept", result.status.message(),
                  {{"changed", changed}});
    return;
  }
  SetLogLevel(LogLevelOf(result.host));
  run_log.Info("Reloaded", {{"profiles", Join(result.profiles, ", ")}, {"changed", changed}});
  if (result.needs_restart.empty()) return;
  run_log.Warning("Some changes take effect only at a restart",
                  {{"keys", Join(result.needs_restart, ", ")}});
}

// ---- ClusterRun ---------------------------------------------------------------------------------

ClusterRun::ClusterRun(ClusterRunOptions options)
    : parts_(std::make_unique<Parts>(std::move(options))) {}

ClusterRun::~ClusterRun() = default;

Status ClusterRun::Open() { return parts_->Open(); }

ClusterRunSummary ClusterRun::Run() { return parts_->Run(); }

std::string ClusterRun::http_address() const { return parts_->serving->address(); }

}  // namespace berth::host
