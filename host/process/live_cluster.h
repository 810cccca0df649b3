// Fills the cluster of a simulation with the objects of a real one.
#ifndef BERTH_HOST_PROCESS_LIVE_CLUSTER_H_
#define BERTH_HOST_PROCESS_LIVE_CLUSTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/kubernetes/credentials.h"
#include "host/cluster/kubernetes/kubeconfig.h"
#include "host/process/local_cluster.h"
#include "host/process/plugin_set.h"

namespace berth::host {

struct LiveClusterRequest {
  AccessRequest access;
  AccessEnvironment access_environment;
  Credentials::Environment credentials;
  // Called with the number of objects so far. May be empty.
  std::function<void(std::string_view kind, size_t count)> progress;
};

// Reads pods, nodes and the kinds that the plugins declare, and adds them to the cluster. Sends
// only GET requests.
// Returns: warnings, one line for each: objects that could not be read, rules that are missing.
// Errors: those of FindClusterAccess(), KubernetesConnection::Open() and ReadLiveObjects().
Result<std::vector<std::string>> LoadLiveCluster(const LiveClusterRequest& request,
                                                 const PluginSet& plugins, LocalCluster& cluster);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_LIVE_CLUSTER_H_
