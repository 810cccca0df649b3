// How a process reaches a real cluster, and the session of a process that schedules on one.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SESSION_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/config/host_config.h"
#include "host/http/transport.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/assemble/session.h"
#include "host/process/log/log_format.h"
#include "host/process/log/log_limiter.h"
#include "host/process/log/log_output.h"

namespace berth::host {

// The real cluster of a command, and how this process reaches it.
struct ClusterTarget {
  AccessRequest access;
  AccessEnvironment environment;
  Credentials::Environment credentials;
  std::string user_agent = {};
};

// Reads a kubeconfig, a token or a certificate. If the file is larger than kMaxKubeconfigBytes,
// returns its first kMaxKubeconfigBytes + 1 bytes, which no reader accepts.
// Errors: kNotFound, kPermissionDenied, kInvalidArgument for a directory or another reason. The
//         messages do not contain the path.
Result<std::string> ReadAccessFile(const std::string& path);

// Returns the access to the target, with clientConnection.kubeconfig of the host file if the
// command line has set no kubeconfig.
// Errors: those of FindClusterAccess() of the request.
Result<ClusterAccess> FindClusterAccess(const ClusterTarget& target, const ClusterConfig& config);

// Connects to the target. `access`: that of FindClusterAccess(). The user agent of the options is
// set here.
// Errors and lifetime: those of KubernetesConnection::Open().
Result<std::unique_ptr<KubernetesConnection>> OpenConnection(const ClusterTarget& target,
                                                             const ClusterAccess& access,
                                                             ConnectionOptions options,
                                                             TransportObserver& observer,
                                                             LogSink& log);

// Returns the options of the election that the host file sets, with kube-scheduler's defaults for
// the others. The seed follows from the identity.
ElectionOptions ElectionOptionsOf(const ClusterConfig& config, std::string identity = "");

// Returns the options of the connection that the host file sets.
ConnectionOptions ConnectionOptionsOf(const ClusterConfig& config);

// Returns how many bindings may be under way before no further pod is tried: two for each
// connection of writes, so that the next one waits when a connection is free. More would only take
// memory, and their pods would be decided earlier than necessary, with an older state of the
// cluster.
size_t MaxOpenBindings(const ClusterConfig& config);

// Returns the header User-Agent of requests to an API server, in the form of kube-scheduler:
// "berth/0.1.0 (linux/amd64)". `version`: that of Berth.
std::string UserAgentOf(std::string_view version);

// The options of a process that schedules on a real cluster.
struct ClusterProcessOptions : ProcessOptions {
  ClusterTarget target;
  // Nullopt: the form that the host file sets, or text.
  std::optional<LogFormat> log_format = {};
  int32_t log_descriptor = 2;
  int32_t pid = 0;  // Of this process, for the log.
};

// A Session with the log of the process, the connection and the client.
//
// The owner calls Open(), FindAccess() and Connect(), in this order, then the methods of Session
// from TakeSchedulerOptions() on. The fence of the client is closed.
//
// Threading: as Session. The client's own threads are those of KubernetesConnection.
// Lifetime:  the owner destroys its scheduler before.
class ClusterSession : public Session {
 public:
  // `monotonic_ns`: the clock of the process counts the time of this one. Threading: any.
  ClusterSession(const ClusterProcessOptions& options, const Settings& settings, Driver& driver,
                 const std::function<int64_t()>& monotonic_ns);
  // Stops the client without waiting for answers, unless StopClient() was called.
  ~ClusterSession();

  // Reads the configuration and opens the log.
  // Errors: those of ReadConfig().
  Status Open();
  // Finds out how the cluster is reached, and returns it.
  // Errors: those of FindClusterAccess().
  Result<ClusterAccess> FindAccess() const;
  // Connects, and creates the client. Waits for no answer of the API server: a server that is away
  // is logged and tried again.
  // `client`: the options that the process sets; the others are set here. `observer` must outlive
  // the session.
  // Errors: those of KubernetesConnection::Open().
  Status Connect(const ClusterAccess& access, const ConnectionOptions& options,
                 TransportObserver& observer, KubernetesClient::Options client = {});
  // Logs that an exec plugin has failed, and waits for its next run. The process may use it as
  // ConnectionOptions::wait_after_failure.
  void WaitAfterFailure(const Status& status, int64_t delay_ns);
  // Stops the client, and waits at most `limit_ns` for open requests. A second call has no effect.
  void StopClient(int64_t limit_ns);

  // Carries out a reload that was requested, as Session::ReloadIfRequested() with
  // SchedulerHost::Reload(), and logs its result. Calls `applied` after a success, with the
  // profiles that run from now on.
  void ReloadIfRequested(SchedulerHost& scheduler,
                         const std::function<void(const ProfileSet& set)>& applied);

  // Returns the path of the kubeconfig that the options or the host file set; empty if none does.
  std::string kubeconfig() const;
  const RealClock& clock() const { return clock_; }
  Interner& interner() { return interner_; }
  BindFence& fence() { return fence_; }
  // REQUIRES: Connect() succeeded. This applies to the next methods, too.
  KubernetesClient& client() { return *client_; }
  const KubernetesClient& client() const { return *client_; }
  Channel leases() { return connection_->leases(); }
  int64_t GatherNs() const { return connection_->GatherNs(); }

 private:
  Status Reload(const ProfileSet& set, SchedulerHost& scheduler);
  void LogReload(const ReloadResult& result);
  void SetKindUsers(KindUsers users);
  std::string UsersOf(std::string_view kind) const;

  const ClusterProcessOptions& cluster_options_;
  RealClock clock_;
  Interner interner_;
  BindFence fence_;
  std::optional<LogOutput> output_;
  std::optional<LogLimiter> limiter_;
  mutable std::mutex users_mutex_;
  KindUsers users_;  // Guarded by users_mutex_: the client's threads read it for messages.
  std::unique_ptr<KubernetesConnection> connection_;
  std::unique_ptr<KubernetesClient> client_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SESSION_H_
