// The pods that the controllers of Kubernetes create for a workload, such as a Deployment.
#ifndef BERTH_HOST_CLUSTER_CONTROL_PLANE_WORKLOAD_H_
#define BERTH_HOST_CLUSTER_CONTROL_PLANE_WORKLOAD_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/base/status.h"
#include "host/cluster/control_plane/controlled_pods.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// Returns whether ExpandWorkload() knows the kind, such as "apps/v1/Deployment".
bool IsWorkload(std::string_view kind);

// Returns whether an object of another kind has a pod template anywhere, as many custom resources
// have whose controllers create pods. REQUIRES: the nesting of the JSON is limited.
bool HasPodTemplate(const nlohmann::ordered_json& object);

// The result for one workload.
struct WorkloadPods {
  size_t created = 0;
  size_t existing = 0;   // Pods of the workload that the cluster has already.
  std::string why_none;  // Why there are no pods, such as "it is suspended"; else "".
};

// The surroundings of a workload, and the receiver of its pods.
struct WorkloadPlace {
  const EmbeddedCluster& cluster;
  const ControlledPods& pods;  // Read when the expansion begins.
  Decoder& decoder;
  // Adds an object between the workload and its pods: a ReplicaSet, a Job or a claim. Returns the
  // uid of the object.
  std::function<Result<std::string>(nlohmann::ordered_json object)> create;
  // Adds a pod. An error ends the expansion.
  std::function<Status(nlohmann::ordered_json pod)> add_pod;
};

// The most pods that one workload may have here.
inline constexpr int64_t kMaxWorkloadPods = 1'000'000;

// Creates the pods that are missing, as the controllers would at once:
//   Deployment             a ReplicaSet and its pods
//   ReplicaSet, ReplicationController   spec.replicas pods
//   StatefulSet            spec.replicas pods with ordinals and the claims of their templates. All
//                          at once, because no pod becomes ready here before it is scheduled.
//   DaemonSet              one pod for each node that its node selection and taints allow
//   Job                    as many pods as may run at the same time, unless it has ended
//   CronJob                one Job, as at the next time of its schedule, and its pods
// Pods that exist and that the controller would count are not created again; those of all
// ReplicaSets of a Deployment count. A workload that is being deleted gets none. Names have another
// suffix than on a cluster.
// kubernetes: pkg/controller/{deployment,replicaset,statefulset,daemon,job,cronjob}.
//
// `workload`: the JSON of a kind of IsWorkload(), with the uid that it has in the cluster.
// Errors: kInvalidArgument, with the JSON pointer, for a value that an API server refuses: no
//         template, a negative number, a selector that the labels of the template do not match;
//         those of decoding a pod of the template; those of `create` and `add_pod`.
// Lifetime: the arguments are used during the call.
Result<WorkloadPods> ExpandWorkload(const nlohmann::ordered_json& workload,
                                    const WorkloadPlace& place);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_CONTROL_PLANE_WORKLOAD_H_
