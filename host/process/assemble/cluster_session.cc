#include "host/process/assemble/cluster_session.h"

#include <chrono>
#include <thread>
#include <utility>

#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/process/assemble/input_files.h"

namespace berth::host {
namespace {

// The name that Go, and therefore Kubernetes, has for the processor.
#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#else
constexpr std::string_view kArchitecture = "unknown";
#endif

std::string KubeconfigOf(const ClusterTarget& target, const ClusterConfig& config) {
  const std::string& given = target.access.kubeconfig;
  return given.empty() ? config.kubeconfig.value_or("") : given;
}

}  // namespace

Result<std::string> ReadAccessFile(const std::string& path) {
  Result<std::string> text = ReadFile(path, kMaxKubeconfigBytes + 1);
  // The text may be kept for as long as the process runs.
  if (text.ok()) text->shrink_to_fit();
  return text;
}

Result<ClusterAccess> FindClusterAccess(const ClusterTarget& target, const ClusterConfig& config) {
  AccessRequest request = target.access;
  request.kubeconfig = KubeconfigOf(target, config);
  return FindClusterAccess(request, target.environment);
}

Result<std::unique_ptr<KubernetesConnection>> OpenConnection(const ClusterTarget& target,
                                                             const ClusterAccess& access,
                                                             ConnectionOptions options,
                                                             TransportObserver& observer,
                                                             LogSink& log) {
  options.user_agent = target.user_agent;
  return KubernetesConnection::Open(access, options, target.credentials, observer, log);
}

ElectionOptions ElectionOptionsOf(const ClusterConfig& config, std::string identity) {
  ElectionOptions options;
  options.seed = HashBytes(identity);
  options.identity = std::move(identity);
  options.ns = config.lease_namespace.value_or(options.ns);
  options.name = config.lease_name.value_or(options.name);
  options.lease_ns = config.lease_ns.value_or(kDefaultLeaseNs);
  options.renew_deadline_ns = config.renew_deadline_ns.value_or(kDefaultRenewDeadlineNs);
  options.retry_ns = config.retry_ns.value_or(kDefaultRetryNs);
  options.stall_limit_ns = config.stall_limit_ns.value_or(options.stall_limit_ns);
  return options;
}

ConnectionOptions ConnectionOptionsOf(const ClusterConfig& config) {
  ConnectionOptions options;
  options.write_connections = config.connections.value_or(options.write_connections);
  options.qps = config.qps.value_or(options.qps);
  options.burst = config.burst.value_or(options.burst);
  return options;
}

size_t MaxOpenBindings(const ClusterConfig& config) {
  constexpr size_t kPerConnection = 2;
  return kPerConnection * ConnectionOptionsOf(config).write_connections;
}

std::string UserAgentOf(std::string_view version) {
  return std::string("berth/").append(version).append(" (linux/").append(kArchitecture) + ")";
}

// ---- ClusterSession -----------------------------------------------------------------------------

ClusterSession::ClusterSession(const ClusterProcessOptions& options, const Settings& settings,
                               Driver& driver, const std::function<int64_t()>& monotonic_ns)
    : Session(options, settings, driver),
      cluster_options_(options),
      clock_(options.wall_ns(), monotonic_ns),
      interner_(options.hash_key),
      fence_(monotonic_ns) {
  clock_.Begin();
}

ClusterSession::~ClusterSession() { StopClient(0); }

// ---- Opening ------------------------------------------------------------------------------------

Status ClusterSession::Open() {
  if (Status status = ReadConfig(); !status.ok()) return status;
  users_ = KindUsers(set().plugins->catalog(), set().specs);
  const bool is_json = host().cluster.log_format == "json";
  output_.emplace(LogOutput::Options{.format = cluster_options_.log_format.value_or(
                                         is_json ? LogFormat::kJsonLines : LogFormat::kKlog),
                                     .wall_ns = options().wall_ns,
                                     .descriptor = cluster_options_.log_descriptor,
                                     .pid = cluster_options_.pid});
  OpenLog(limiter_.emplace(*output_, LogLimiter::Options{.steady_ns = options().steady_ns}));
  return {};
}

std::string ClusterSession::kubeconfig() const {
  return KubeconfigOf(cluster_options_.target, host().cluster);
}

Result<ClusterAccess> ClusterSession::FindAccess() const {
  return FindClusterAccess(cluster_options_.target, host().cluster);
}

Status ClusterSession::Connect(const ClusterAccess& access, const ConnectionOptions& options,
                               TransportObserver& observer, KubernetesClient::Options client) {
  auto opened = OpenConnection(cluster_options_.target, access, options, observer, sink());
  if (!opened.ok()) return std::move(opened).status();
  connection_ = std::move(opened).value();
  client.reads = connection_->reads();
  client.writes = connection_->writes();
  client.events = connection_->events();
  client.wall = &clock_;
  client.fence = &fence_;
  client.decode = DecodeOptionsFor(*set().plugins, EmulatedVersionOf(host()));
  client.wake = [this] { driver().waker().Wake(); };
  client.needed_by = [this](std::string_view kind) { return UsersOf(kind); };
  client_ = std::make_unique<KubernetesClient>(interner_, std::move(client), LogOf("client"));
  return {};
}

void ClusterSession::WaitAfterFailure(const Status& status, int64_t delay_ns) {
  log().Error("Cannot get the credentials; the credential plugin is run again", status.message(),
              {{"in", FormatDuration(delay_ns / kMillisecond * kMillisecond)}});
  std::this_thread::sleep_for(std::chrono::nanoseconds(delay_ns));
}

void ClusterSession::StopClient(int64_t limit_ns) {
  if (client_ != nullptr) client_->Stop(limit_ns);
}

// ---- Running ------------------------------------------------------------------------------------

void ClusterSession::ReloadIfRequested(SchedulerHost& scheduler,
                                       const std::function<void(const ProfileSet&)>& applied) {
  Session::ReloadIfRequested(
      [&](const ProfileSet& set) {
        Status status = Reload(set, scheduler);
        if (status.ok()) applied(set);
        return status;
      },
      [this](const ReloadResult& result) { LogReload(result); });
}

void ClusterSession::LogReload(const ReloadResult& result) {
  const std::string changed = Join(result.changed, ", ");
  if (!result.status.ok()) {
    return log().Error("Cannot reload; the running configuration is kept", result.status.message(),
                       {{"changed", changed}});
  }
  log().Info("Reloaded", {{"profiles", Join(result.profiles, ", ")}, {"changed", changed}});
  if (result.needs_restart.empty()) return;
  log().Warning("Some changes take effect only at a restart",
                {{"keys", Join(result.needs_restart, ", ")}});
}

Status ClusterSession::Reload(const ProfileSet& set, SchedulerHost& scheduler) {
  // The watches of new kinds begin, and may report errors, before Reload() returns.
  KindUsers before = users_;
  SetKindUsers(KindUsers(set.plugins->catalog(), set.specs));
  Status status = scheduler.Reload(set.plugins, set.specs);
  if (!status.ok()) SetKindUsers(std::move(before));
  return status;
}

void ClusterSession::SetKindUsers(KindUsers users) {
  const std::lock_guard lock(users_mutex_);
  users_ = std::move(users);
}

std::string ClusterSession::UsersOf(std::string_view kind) const {
  const std::lock_guard lock(users_mutex_);
  return users_.Of(kind);
}

}  // namespace berth::host
