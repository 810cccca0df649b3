#include "host/process/assemble/cluster_session.h"

#include <utility>

namespace berth::host {

ClusterSession::ClusterSession(const ClusterProcessOptions& options, const Settings& settings,
                               const std::function<int64_t()>& monotonic_ns)
    : Session(options, settings),
      target_(options.target),
      log_format_(options.log_format),
      log_descriptor_(options.log_descriptor),
      pid_(options.pid),
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
  OpenLog(output_.emplace(LogOutput::Options{
      .format = log_format_.value_or(is_json ? LogFormat::kJsonLines : LogFormat::kKlog),
      .wall_ns = options().wall_ns,
      .descriptor = log_descriptor_,
      .pid = pid_}));
  return {};
}

Result<ClusterAccess> ClusterSession::FindAccess() const {
  return FindClusterAccess(target_, host().cluster);
}

Status ClusterSession::Connect(const ClusterAccess& access, const ConnectionOptions& options,
                               TransportObserver& observer, KubernetesClient::Options client) {
  auto opened = KubernetesConnection::Open(access, options, target_.credentials, observer, sink());
  if (!opened.ok()) return std::move(opened).status();
  connection_ = std::move(opened).value();
  client.reads = connection_->reads();
  client.writes = connection_->writes();
  client.events = connection_->events();
  client.wall = &clock_;
  client.fence = &fence_;
  client.decode = DecodeOptionsFor(*set().plugins);
  client.wake = [this] { waker().Wake(); };
  client.needed_by = [this](std::string_view kind) { return UsersOf(kind); };
  client_ = std::make_unique<KubernetesClient>(interner_, std::move(client), LogOf("client"));
  return {};
}

void ClusterSession::StopClient(int64_t limit_ns) {
  if (client_ != nullptr && !std::exchange(is_stopped_, true)) client_->Stop(limit_ns);
}

// ---- Running ------------------------------------------------------------------------------------

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
