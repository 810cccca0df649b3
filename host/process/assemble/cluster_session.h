// What every process that schedules on a real cluster has, besides its Session: the log of the
// process, the connection and the client.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SESSION_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/process/assemble/cluster_settings.h"
#include "host/process/assemble/kind_users.h"
#include "host/process/assemble/process_options.h"
#include "host/process/assemble/session.h"
#include "host/process/log/log_output.h"

namespace berth::host {

// The owner calls Open(), FindAccess() and Connect(), in this order, then the methods of Session
// from TakeSchedulerOptions() on. The fence of the client is closed.
//
// Threading: as Session. The client's own threads are those of KubernetesConnection.
// Lifetime:  the owner destroys its scheduler before.
class ClusterSession : public Session {
 public:
  // `monotonic_ns`: the clock of the process counts the time of this one. Threading: any.
  ClusterSession(const ClusterProcessOptions& options, const Settings& settings,
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
  // Stops the client, and waits at most `limit_ns` for open requests. A second call has no effect.
  void StopClient(int64_t limit_ns);

  // Replaces plugins and profiles as SchedulerHost::Reload does, with the same errors.
  Status Reload(const ProfileSet& set, SchedulerHost& scheduler);

  const RealClock& clock() const { return clock_; }
  Interner& interner() { return interner_; }
  BindFence& fence() { return fence_; }
  // REQUIRES: Connect() succeeded. This applies to the next method, too.
  KubernetesClient& client() { return *client_; }
  Channel leases() { return connection_->leases(); }

 private:
  void SetKindUsers(KindUsers users);
  std::string UsersOf(std::string_view kind) const;

  const ClusterTarget target_;
  const std::optional<LogFormat> log_format_;
  const int32_t log_descriptor_;
  const int32_t pid_;
  RealClock clock_;
  Interner interner_;
  BindFence fence_;
  std::optional<LogOutput> output_;
  mutable std::mutex users_mutex_;
  KindUsers users_;  // Guarded by users_mutex_: the client's threads read it for messages.
  std::unique_ptr<KubernetesConnection> connection_;
  std::unique_ptr<KubernetesClient> client_;
  bool is_stopped_ = false;  // The client was stopped.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SESSION_H_
