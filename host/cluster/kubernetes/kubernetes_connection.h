// The threads, transports and credentials of a process that uses a real API server.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CONNECTION_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/http/transport.h"

namespace berth::host {

struct ConnectionOptions {
  size_t read_connections = 4;  // Without those of lists and watches, which have one each.
  size_t write_connections = 64;
  size_t event_connections = 8;
  double qps = 0;  // Of bindings, status patches and deletions; 0: no limit.
  uint32_t burst = 0;
  std::string user_agent = {};  // "berth/0.1.0 (linux/amd64)"
  int64_t request_timeout_ns = 34'000'000'000;
  int64_t lease_timeout_ns = 5'000'000'000;
  // DialOptions::user_timeout_ms of the connections of writes and events. See BindFence: at most
  // leaseDuration - renewDeadline.
  uint32_t write_user_timeout_ms = 5'000;
  // Empty: the first failure of an exec plugin is an error of Open().
  Credentials::WaitAfterFailure wait_after_failure = {};
};

// Three threads: "berth-read", "berth-write" (which events share) and "berth-lease". The lease has
// a thread, a transport and two connections of its own, so that neither a long list, nor a full
// pool, nor the scheduling thread, nor one request for another lease can delay a renewal.
//
// Threading: created and destroyed on one thread. The other methods any thread.
// Lifetime:  users of a channel, such as KubernetesClient and LeaderElector, are stopped before it
//            is destroyed: its destructor completes what is still open with kUnavailable.
class KubernetesConnection {
 public:
  // Loads the credentials and starts the threads. Sends nothing.
  // `access`: that of FindClusterAccess(), which has checked the endpoint.
  // Errors: those of Credentials::Load().
  // Lifetime: `environment.steady_ns`, observer and log must outlive the result.
  static Result<std::unique_ptr<KubernetesConnection>> Open(const ClusterAccess& access,
                                                            const ConnectionOptions& options,
                                                            Credentials::Environment environment,
                                                            TransportObserver& observer,
                                                            LogSink& log);
  // Closes the transports and ends the threads.
  ~KubernetesConnection();

  Channel reads();
  Channel writes();
  Channel events();
  Channel leases();

  // Sends a request on the channel of writes and waits for its answer. For commands that run once,
  // such as doctor.
  // REQUIRES: the caller is none of the three threads.
  HttpResponse SendAndWait(HttpRequest request);
  // Returns for how long a busy thread gathers its work; see WakePacer. The threads of reads and
  // writes do so, and the scheduling thread should. The time is longer while many requests are open
  // on the connections of writes and events: most of them wait much longer than that, for the
  // server or for a connection.
  int64_t GatherNs() const;
  // Returns the credential that requests carry now; never null.
  std::shared_ptr<const Credential> credential() const;

 private:
  struct Impl;
  explicit KubernetesConnection(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CONNECTION_H_
