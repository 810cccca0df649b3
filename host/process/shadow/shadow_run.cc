#include "host/process/shadow/shadow_run.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "host/base/log.h"
#include "host/base/real_clock.h"
#include "host/base/text.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/event/inbox.h"
#include "host/process/assemble/cluster_settings.h"
#include "host/process/assemble/kind_users.h"
#include "host/process/log/log_output.h"
#include "host/process/shadow/shadow_scheduler.h"

namespace berth::host {

// The members are destroyed in the reverse order: each one outlives those after it, which use it.
struct ShadowRun::Parts {
  explicit Parts(ShadowRunOptions given)
      : options(std::move(given)),
        libraries(MakeLibraryStore(options.temporary_directory, options.steady_ns)),
        clock(options.wall_ns(), options.steady_ns),
        start_ns(clock.NowNs()),
        interner(options.hash_key),
        fence(options.steady_ns) {
    clock.Begin();
  }
  ~Parts();

  // ---- Opening ----
  Status Open();
  void OpenLog();
  void LogWarnings(const std::vector<std::string>& warnings);
  Status OpenConnection();
  void OpenClient();
  Status OpenScheduler();

  // ---- Running ----
  Status Run();
  bool IsOver() const;
  void Wait();
  void LogBegin();
  Status NotBegun() const;

  const ShadowRunOptions options;
  const std::shared_ptr<LibraryStore> libraries;
  ThreadWaker waker;
  RealClock clock;
  const int64_t start_ns;
  std::optional<LogOutput> log;
  RunConfig config;
  KindUsers kind_users;
  std::atomic<int> signal = 0;
  bool has_begun = false;
  bool output_failed = false;
  int64_t took_ns = 0;
  Interner interner;
  BindFence fence;  // Never opened.
  TransportObserver transports;
  std::unique_ptr<KubernetesConnection> connection;
  std::unique_ptr<KubernetesClient> client;
  std::unique_ptr<ShadowScheduler> scheduler;
  std::unique_ptr<ProcessRequests> requests;
};

// The watches end before the client, and the client is stopped before its connection is closed.
ShadowRun::Parts::~Parts() {
  requests.reset();
  scheduler.reset();
  if (client != nullptr) client->Stop();
}

// ---- Opening ------------------------------------------------------------------------------------

Status ShadowRun::Parts::Open() {
  FileStamps files;
  Result<RunConfig> read = ReadRunConfig(options.config, libraries, files);
  if (!read.ok()) return std::move(read).status();
  config = std::move(read).value();
  kind_users = KindUsers(config.set.plugins->catalog(), config.set.specs);
  OpenLog();
  LogWarnings(config.set.warnings);
  if (Status status = OpenConnection(); !status.ok()) return status;
  OpenClient();
  return OpenScheduler();
}

void ShadowRun::Parts::OpenLog() {
  const bool is_json = config.host.cluster.log_format == "json";
  const uint32_t level = config.host.log_level.value_or(BERTH_LOG_WARN);
  log.emplace(LogOutput::Options{
      .format = options.log_format.value_or(is_json ? LogFormat::kJsonLines : LogFormat::kKlog),
      .level = options.log_level.value_or(level),
      .wall_ns = options.wall_ns,
      .descriptor = options.log_descriptor,
      .pid = options.pid});
}

void ShadowRun::Parts::LogWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) Log(*log, "shadow").Warning(warning);
}

Status ShadowRun::Parts::OpenConnection() {
  Result<ClusterAccess> access = FindClusterAccess(
      WithHostFile(options.access, config.host.cluster), options.access_environment);
  if (!access.ok()) return std::move(access).status();
  LogWarnings(access->warnings);
  auto opened = KubernetesConnection::Open(*access, {.user_agent = options.user_agent},
                                           options.credentials, transports, *log);
  if (!opened.ok()) return std::move(opened).status();
  connection = std::move(opened).value();
  return {};
}

void ShadowRun::Parts::OpenClient() {
  KubernetesClient::Options client_options;
  client_options.reads = connection->reads();
  client_options.writes = connection->writes();
  client_options.events = connection->events();
  client_options.wall = &clock;
  client_options.fence = &fence;
  client_options.decode = DecodeOptionsFor(*config.set.plugins);
  client_options.seed = options.seed;
  client_options.wake = [this] { waker.Wake(); };
  client_options.needed_by = [this](std::string_view kind) { return kind_users.Of(kind); };
  client =
      std::make_unique<KubernetesClient>(interner, std::move(client_options), Log(*log, "client"));
}

Status ShadowRun::Parts::OpenScheduler() {
  SchedulerOptions scheduler_options;
  scheduler_options.plugins = config.set.plugins;
  scheduler_options.profiles = config.set.specs;
  scheduler_options.hash_key = options.hash_key;
  scheduler_options.report_crashes = options.report_crashes;
  scheduler_options.loop.seed = options.seed;
  scheduler_options.loop.clock = &clock;
  scheduler_options.loop.waker = &waker;
  scheduler_options.loop.log = &*log;
  ApplyHostFile(config.host, scheduler_options.loop);
  scheduler = std::make_unique<ShadowScheduler>(
      interner, *client, std::move(scheduler_options), options.observing,
      [this](const ShadowDecision& decision) { output_failed |= !options.on_decision(decision); },
      [this] { waker.Wake(); });
  return scheduler->Start();
}

// ---- Running ------------------------------------------------------------------------------------

Status ShadowRun::Parts::Run() {
  if (options.requests) {
    requests = options.requests({});
    requests->OnStop([this](int number) {
      signal = number;
      waker.Wake();
    });
  }
  scheduler->host().StartWatchdog(DeadlinesOf(config.host), options.steady_ns);
  while (!IsOver()) {
    bool did = client->Deliver() > 0;
    did |= scheduler->Step();
    if (!has_begun && scheduler->has_begun()) LogBegin();
    if (did) continue;
    output_failed |= !options.flush();
    if (!IsOver()) Wait();
  }
  scheduler->Finish();
  scheduler->host().StopWatchdog();
  requests.reset();
  took_ns = clock.NowNs() - start_ns;
  return has_begun || output_failed ? Status() : NotBegun();
}

bool ShadowRun::Parts::IsOver() const {
  if (signal != 0 || output_failed) return true;
  return options.duration_ns.has_value() && clock.NowNs() - start_ns >= *options.duration_ns;
}

void ShadowRun::Parts::Wait() {
  const int64_t now_ns = clock.NowNs();
  int64_t wait_ns = INT64_MAX;
  if (const std::optional<int64_t> next_ns = scheduler->NextStepNs()) wait_ns = *next_ns - now_ns;
  if (options.duration_ns.has_value()) {
    wait_ns = std::min(wait_ns, start_ns + *options.duration_ns - now_ns);
  }
  waker.Wait(wait_ns);
}

void ShadowRun::Parts::LogBegin() {
  has_begun = true;
  const Cache& cache = scheduler->host().loop().cache();
  Log(*log, "shadow")
      .Info("Judging placements", {{"nodes", std::to_string(cache.table().node_count())},
                                   {"podsOnNodes", std::to_string(cache.pod_count())}});
}

Status ShadowRun::Parts::NotBegun() const {
  std::string text;
  for (const WatchState& watch : client->Watches()) {
    if (watch.is_synced) continue;
    text.append(text.empty() ? "" : "\n").append(watch.kind);
    text.append(": expected to receive all objects before the end of the run, found ");
    text.append(watch.error.ok() ? "that they have not arrived" : watch.error.message());
  }
  if (text.empty()) text = "the run ended before the objects of the cluster were received";
  return Status::Unavailable(std::move(text));
}

// ---- ShadowRun ----------------------------------------------------------------------------------

ShadowRun::ShadowRun(ShadowRunOptions options)
    : parts_(std::make_unique<Parts>(std::move(options))) {}

ShadowRun::~ShadowRun() = default;

Status ShadowRun::Open() { return parts_->Open(); }

Status ShadowRun::Run() { return parts_->Run(); }

ShadowSummary ShadowRun::Summary() const {
  return {.totals = parts_->scheduler->totals(),
          .refused = parts_->scheduler->refused(),
          .took_ns = parts_->took_ns,
          .output_failed = parts_->output_failed};
}

}  // namespace berth::host
