// A way to an API server.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_CHANNEL_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_CHANNEL_H_

#include "host/base/executor.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

// A transport and the executor that it belongs to.
struct Channel {
  Transport* transport = nullptr;
  Executor* executor = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_CHANNEL_H_
