#include "host/process/run/cluster_run.h"

#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <charconv>
#include <fstream>

#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {

// --- start memory --------------------------------------------------------------------------------

namespace {

// A mapping of this process, as /proc/self/smaps describes it (man 5 proc).
struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool is_read_only_file = false;
};

// Reads the first line of a mapping:
// "<begin>-<end> <permissions> <offset> <device> <inode> <path>".
// Returns nullopt for another line.
std::optional<Mapping> ReadHeader(std::string_view line) {
  Mapping mapping;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, mapping.begin, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, mapping.end, 16);
  if (second.ec != std::errc()) return std::nullopt;
  const std::string_view rest(second.ptr, end);
  const bool is_read_only = rest.starts_with(" r-xp ") || rest.starts_with(" r--p ");
  mapping.is_read_only_file = is_read_only && rest.find(" /") != rest.npos;
  return mapping;
}

// Returns true if the line says that the mapping has no pages that differ from the file: no
// relocated addresses, and no breakpoints of a debugger.
bool IsUnchanged(std::string_view line) {
  constexpr std::string_view kName = "Anonymous:";
  if (!line.starts_with(kName)) return false;
  const size_t digit = line.find_first_not_of(' ', kName.size());
  return digit != line.npos && line.substr(digit) == "0 kB";
}

}  // namespace

size_t DropCleanPages() {
  std::ifstream maps("/proc/self/smaps");
  Mapping mapping;
  size_t dropped = 0;
  for (std::string line; std::getline(maps, line);) {
    if (const auto header = ReadHeader(line)) {
      mapping = *header;
      continue;
    }
    if (!mapping.is_read_only_file || !IsUnchanged(line)) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel prints addresses as numbers.
    void* const begin = reinterpret_cast<void*>(mapping.begin);
    if (::madvise(begin, mapping.end - mapping.begin, MADV_DONTNEED) == 0) ++dropped;
  }
  return dropped;
}

void ReleaseUnusedMemory() {
  ::malloc_trim(0);
  DropCleanPages();
}

// --- cluster serving -----------------------------------------------------------------------------

namespace {

constexpr const char* kStarting = "the scheduler has not started";
constexpr int64_t kRenewalToleranceNs = 20 * kSecond;

std::string WhyNotSynced(const WatchState& watch) {
  switch (watch.state) {
    case Reflector::State::kDiscovering:
      return "the API server has not answered yet whether it serves the kind";
    case Reflector::State::kWaiting: return "the first list failed and will be tried again";
    case Reflector::State::kListing:
    case Reflector::State::kWatching:
    case Reflector::State::kNotServed: break;
  }
  return "the first list is under way (" + std::to_string(watch.objects) + " objects so far)";
}

Status Findings(const std::vector<std::string>& findings) {
  return findings.empty() ? Status() : Status::Unavailable(Join(findings, "; "));
}

}  // namespace

Status CheckWatch(const WatchState& watch) {
  if (watch.state == Reflector::State::kNotServed) return {};
  if (!watch.error.ok()) return watch.error.Annotate(watch.kind);
  if (watch.is_synced) return {};
  return Status::Unavailable(watch.kind + ": " + WhyNotSynced(watch));
}

ServedState ServedStateOf(ClusterSession& session, const SchedulerHost& scheduler,
                          const ClusterDriver& driver, const Leadership* leadership,
                          ClientMetrics& metrics) {
  ServedState state;
  state.watches = [&session] { return session.client().Watches(); };
  if (leadership != nullptr) state.leadership = [leadership] { return leadership->view(); };
  state.quarantined = [&scheduler] { return scheduler.loop().faults().InQuarantine(); };
  state.has_stuck_call = [&scheduler] { return scheduler.HasStuckCall(); };
  state.last_progress_ns = [&driver] { return driver.last_progress_ns(); };
  state.is_stopping = [&driver] { return driver.is_ending(); };
  state.plugin_metrics = [&scheduler] { return ToText(scheduler.loop().metrics().Read()); };
  state.refresh_metrics = [&session, &metrics] {
    const KubernetesClient& client = session.client();
    metrics.Update({.watches = client.Watches(),
                    .pods = client.pod_counts(),
                    .events = client.event_counts(),
                    .fence_refusals = session.fence().refusals()});
  };
  state.set_log_level = [&session](std::string_view level) { return session.SetLogLevel(level); };
  return state;
}

ClusterServing::ClusterServing(MetricTable& metrics, Options options)
    : options_(std::move(options)),
      health_(metrics),
      endpoints_({.health = &health_,
                  .metrics = &metrics,
                  .plugin_metrics =
                      [this] {
                        const std::lock_guard lock(mutex_);
                        return state_.has_value() ? state_->plugin_metrics() : std::string();
                      },
                  .set_log_level =
                      [this](std::string_view level) {
                        const std::lock_guard lock(mutex_);
                        return state_.has_value() ? state_->set_log_level(level)
                                                  : Status::Unavailable(kStarting);
                      }}) {
  AddCheck("leaderElection", {.readyz = true, .healthz = true}, &ClusterServing::CheckElection);
  AddCheck("lease", {.readyz = true}, &ClusterServing::CheckLease);
  AddCheck("sched-handler-sync", {.readyz = true}, &ClusterServing::CheckSync, true);
  AddCheck("plugins", {.readyz = true}, &ClusterServing::CheckPlugins);
  AddCheck("shutdown", {.readyz = true}, &ClusterServing::CheckShutdown, true);
  AddCheck("schedulingLoop", {.livez = true}, &ClusterServing::CheckLoop);
  metrics.AddGauge("berth_build_info", "The version of Berth; always 1.", {"version"})
      .With({options_.version})
      .Set(1);
  metrics.AddRefresh([this] {
    const std::lock_guard lock(mutex_);
    if (state_.has_value()) state_->refresh_metrics();
  });
}

Status ClusterServing::Listen(std::string_view address, Log log) {
  auto server = HttpServer::Listen(
      address, HttpLimits(), [this](const ServedRequest& request) { return Answer(request); },
      options_.steady_ns, log);
  if (!server.ok()) return std::move(server).status();
  server_ = std::move(server).value();
  return {};
}

void ClusterServing::SetState(std::optional<ServedState> state) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

void ClusterServing::AddCheck(std::string name, HealthPaths paths, Check check, bool at_start) {
  health_.Add(std::move(name), paths, [this, check, at_start]() -> Status {
    const std::lock_guard lock(mutex_);
    if (state_.has_value()) return (this->*check)();
    return at_start ? Status::Unavailable(kStarting) : Status();
  });
}

// ---- The checks ---------------------------------------------------------------------------------

Status ClusterServing::CheckSync() const {
  std::vector<std::string> findings;
  for (const WatchState& watch : state_->watches()) {
    const Status status = CheckWatch(watch);
    if (!status.ok()) findings.emplace_back(status.message());
  }
  return Findings(findings);
}

Status ClusterServing::CheckElection() const {
  if (!state_->leadership) return {};
  const Leadership::View view = state_->leadership();
  const int64_t age_ns = options_.boot_ns() - view.renewed_ns;
  if (!view.leads || age_ns <= options_.lease_ns + kRenewalToleranceNs) return {};
  return Status::Unavailable("this process leads, but has not renewed its lease for " +
                             FormatDuration(age_ns / kSecond * kSecond));
}

Status ClusterServing::CheckLease() const {
  if (!state_->leadership) return {};
  const Leadership::View view = state_->leadership();
  if (view.leads || view.error.ok()) return {};
  return view.error.Annotate("cannot acquire the lease");
}

Status ClusterServing::CheckLoop() const {
  const int64_t age_ns = options_.boot_ns() - state_->last_progress_ns();
  if (age_ns <= options_.stall_limit_ns) return {};
  return Status::Unavailable("the scheduling loop has made no progress for " +
                             FormatDuration(age_ns / kSecond * kSecond) +
                             "; the log names a plugin whose call is late");
}

Status ClusterServing::CheckPlugins() const {
  std::vector<std::string> findings;
  if (state_->has_stuck_call()) {
    findings.emplace_back(
        "a call has not ended, although it was cancelled; the log names its plugin");
  }
  for (const PluginFaults::Quarantined& plugin : state_->quarantined()) {
    findings.push_back(plugin.plugin + " of the profile " + plugin.profile +
                       " is in quarantine: " + plugin.why);
  }
  return Findings(findings);
}

Status ClusterServing::CheckShutdown() const {
  return state_->is_stopping() ? Status::Unavailable("the process ends") : Status();
}

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
  if (options_.leader_elect.value_or(config.leader_elect.value_or(true))) {
    election_ = ElectionOptionsOf(config, identity_);
    if (Status status = CheckElectionOptions(*election_); !status.ok()) return status;
  }
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

Status ClusterRun::OpenServing() {
  serving_.emplace(
      metrics_, ClusterServing::Options{.version = options_.version,
                                        .lease_ns = election_.has_value() ? election_->lease_ns : 0,
                                        .steady_ns = options_.steady_ns,
                                        .boot_ns = options_.boot_ns});
  const std::string address = options_.http_address.value_or(
      session_.host().cluster.http_address.value_or(std::string(kDefaultHttpAddress)));
  if (address.empty()) return {};
  Status status = serving_->Listen(address, session_.LogOf("http"));
  if (!status.ok()) return status;
  session_.log().Info("Serving health checks and metrics", {{"address", serving_->address()}});
  return status;
}

Status ClusterRun::Connect(const ClusterAccess& access) {
  KubernetesClient::Options client;
  client.seed = HashBytes(identity_);
  client.events_queue.host_name = options_.host_name;
  return session_.Connect(access, ConnectionOptionsOf(session_.host().cluster), client_metrics_,
                          std::move(client));
}

Status ClusterRun::OpenScheduler() {
  SchedulerOptions options = session_.TakeSchedulerOptions(session_.clock());
  options.loop.metrics = &scheduler_metrics_;
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
  if (!election_.has_value()) return done();
  session_.client().Refresh(kKinds, std::move(done));
}

bool ClusterRun::HasRoom() const {
  return session_.client().open_bindings() < MaxOpenBindings(session_.host().cluster);
}

void ClusterRun::BeforeStep() {
  if (!start_memory_.are_all_complete()) start_memory_.OnWatches(session_.client().Watches());
  start_memory_.OnTime(options_.boot_ns());
  session_.ReloadIfRequested(*scheduler_, [this] {
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
  if (!election_.has_value()) return log.Info("Scheduling", {{"took", took}});
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
  if (!election_.has_value()) {
    session_.log().Info(
        "Scheduling without an election: no other scheduler may have the same profiles");
    session_.fence().OpenUntil(BindFence::kForever);
    return OnLeading();
  }
  leadership_.emplace(Leadership::Options{
      .leases = session_.leases(),
      .wall = &session_.clock(),
      .boot_ns = options_.boot_ns,
      .fence = &session_.fence(),
      .election = *election_,
      .scheduler = first_profile_,
      .metrics = &client_metrics_,
      .write_event = [this](Event event) { session_.client().CreateEvent(std::move(event), {}); },
      .on_started = [this] { OnLeading(); },
      .on_lost = [this](auto why) { OnLeaseLost(why); },
      .last_progress_ns = [this] { return last_progress_ns(); },
      .log = session_.LogOf("leaderElection")});
  leadership_->Start();
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
