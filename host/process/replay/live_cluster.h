// Fills the cluster of a simulation with the objects of a real one.
#ifndef BERTH_HOST_PROCESS_REPLAY_LIVE_CLUSTER_H_
#define BERTH_HOST_PROCESS_REPLAY_LIVE_CLUSTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/watch/live_objects.h"
#include "host/process/assemble/cluster_settings.h"
#include "host/process/assemble/kind_users.h"
#include "host/process/replay/local_cluster.h"

namespace berth::host {

struct LiveClusterRequest {
  ClusterTarget target;
  // Called with the number of objects of a kind so far, on another thread, while LoadLiveCluster()
  // runs. May be empty.
  std::function<void(std::string_view kind, size_t count)> progress = {};
  LogSink* log = nullptr;  // Must be set.
};

// Reads the pods that have not ended, the nodes, and the objects of the kinds that `users`
// contains, and adds them to the cluster. Sends only GET requests. The lists are read one after the
// other, so that the cluster may change in between.
// Threading: blocks the calling thread, which is that of `cluster`.
// Returns: warnings, one line for each: dangerous settings of the kubeconfig, objects that could
//          not be read or added, kinds that the server does not serve, rules that are missing.
// Errors: those of FindClusterAccess(), KubernetesConnection::Open() and ReadLiveObjects(). Each
//         message of the last one begins with the server.
Result<std::vector<std::string>> LoadLiveCluster(const LiveClusterRequest& request,
                                                 const KindUsers& users, LocalCluster& cluster);

// Returns the lists to read for the kinds of `users`.
LiveRequest LiveRequestFor(const KindUsers& users);

// Adds the objects to the cluster. Returns the warnings of `live`, and one for each object that the
// cluster refuses.
std::vector<std::string> AddLiveObjects(LiveObjects live, LocalCluster& cluster);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_LIVE_CLUSTER_H_
