// The threads, transports and credentials of a process that uses a real API server.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CONNECTION_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/credentials.h"
#include "host/cluster/kubernetes/http_transport.h"
#include "host/cluster/kubernetes/io_thread.h"
#include "host/cluster/kubernetes/kubeconfig.h"
#include "host/cluster/kubernetes/kubernetes_client.h"

namespace berth::host {

struct ConnectionOptions {
  size_t write_connections = 64;
  size_t event_connections = 4;
  double qps = 0;  // Of bindings, status patches and deletions; 0: no limit.
  uint32_t burst = 0;
  std::string user_agent;
  int64_t request_timeout_ns = 34'000'000'000;
  int64_t lease_timeout_ns = 5'000'000'000;
};

// Three threads: "berth-read", "berth-write" (which events share) and "berth-lease". The lease has
// a thread, a transport and a connection of its own, so that neither a long list, nor a full pool,
// nor the scheduling thread can delay a renewal.
//
// Threading: created and destroyed on one thread.
class KubernetesConnection {
 public:
  // Loads the credentials and starts the threads. Sends nothing.
  // Errors: those of CheckEndpoint() and Credentials::Load().
  static Result<std::unique_ptr<KubernetesConnection>> Open(const ClusterAccess& access,
                                                            const ConnectionOptions& options,
                                                            Credentials::Environment environment,
                                                            const Clock& wall,
                                                            TransportObserver& observer,
                                                            LogSink& log);
  // Closes the transports and ends the threads.
  ~KubernetesConnection();
  KubernetesConnection(const KubernetesConnection&) = delete;
  KubernetesConnection& operator=(const KubernetesConnection&) = delete;

  Channel reads();
  Channel writes();
  Channel events();
  Channel leases();

  // Sends a request on the channel of writes and waits for its answer. For commands that run once,
  // such as doctor. REQUIRES: the caller is none of the threads.
  HttpResponse SendAndWait(HttpRequest request);

 private:
  struct Parts;
  explicit KubernetesConnection(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CONNECTION_H_
