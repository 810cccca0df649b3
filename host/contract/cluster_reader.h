// Reads the cluster in which a plugin is checked from manifests.
#ifndef BERTH_HOST_CONTRACT_CLUSTER_READER_H_
#define BERTH_HOST_CONTRACT_CLUSTER_READER_H_

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include <berth/testing/builders.h>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/contract/contract_cluster.h"

namespace berth::host {

// A manifest in any form that ReadManifest() accepts.
struct ClusterManifest {
  std::string name;  // The name in messages.
  std::string text;
};

// The largest cluster of a check, which calls the plugin several thousand times for each pod, with
// all nodes. ReadContractCluster() selects so many nodes, pods on each node and pods without a
// node, evenly distributed over those of the manifests.
inline constexpr size_t kMaxClusterNodes = 12;
inline constexpr size_t kMaxPodsOnNode = 4;
inline constexpr size_t kMaxClusterPods = 8;

// Which parts of a cluster a plugin reads.
struct ClusterParts {
  std::set<std::string> fields;  // See berth_plugin_info.fields.
  std::set<std::string> kinds;   // Each with one version. Objects of other kinds are left out.
  KubeVersion emulated_version = kNewestKubeVersion;  // See DecodeOptions.
};

// Returns the nodes and pods of the manifests, and the objects of the given kinds. The pods without
// a node are those that wait for one; if there are fewer than kMaxClusterPods of them, copies of
// pods on nodes are added. Pods in a final phase, and pods without a node that are being deleted,
// are left out.
// Errors: those of ReadManifest; InvalidArgument for an object that occurs twice, or if there is no
//         node or no pod.
Result<ContractCluster> ReadContractCluster(std::span<const ClusterManifest> manifests,
                                            const ClusterParts& parts);

// Each function returns a specification whose view in the SDK's test kit has the same content as
// the object, except for ids. An object without a uid gets one.
testing::PodSpec SpecOf(const Pod& pod);
// The node has no pods.
testing::NodeSpec SpecOf(const Node& node);
testing::ObjectSpec SpecOf(const Object& object);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_CLUSTER_READER_H_
