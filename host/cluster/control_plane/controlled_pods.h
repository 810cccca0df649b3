// Finds the pods of a cluster by their controllers.
#ifndef BERTH_HOST_CLUSTER_CONTROL_PLANE_CONTROLLED_PODS_H_
#define BERTH_HOST_CLUSTER_CONTROL_PLANE_CONTROLLED_PODS_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// Returns the owner that manages the pod; null if there is none.
const berth_owner* ControllerOf(const Pod& pod);

// The pods that controllers count: those that have not ended and are not being deleted. It is built
// once for many workloads, so that the time does not grow with workloads times pods.
// Lifetime: it holds its pods. It does not follow the cluster.
class ControlledPods {
 public:
  explicit ControlledPods(const EmbeddedCluster& cluster);

  // Returns the pods whose controller has this kind and name, and any version of this group.
  std::span<const PodRef> Of(std::string_view ns, std::string_view api_version,
                             std::string_view kind, std::string_view name) const;
  // Calls `each(pods)` for each controller of the kind whose name begins with `prefix`. The pods
  // are not empty.
  void ForEachController(std::string_view ns, std::string_view api_version, std::string_view kind,
                         std::string_view prefix,
                         const std::function<void(std::span<const PodRef> pods)>& each) const;
  // Returns the pods without a controller, which a controller may adopt.
  std::span<const PodRef> WithoutController(std::string_view ns) const;

 private:
  std::map<std::string, std::vector<PodRef>, std::less<>> by_controller_;  // "ns/group/kind/name"
  std::map<std::string, std::vector<PodRef>, std::less<>> alone_;          // By namespace.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_CONTROL_PLANE_CONTROLLED_PODS_H_
