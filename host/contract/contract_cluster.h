// Creates the cluster in which a plugin is checked.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_CLUSTER_H_
#define BERTH_HOST_CONTRACT_CONTRACT_CLUSTER_H_

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <berth/testing/builders.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/table.h>

#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// Everything that a plugin can read about nodes differs between the nodes, and the pods differ in
// all their parts.
struct ContractCluster {
  std::vector<testing::NodeSpec> nodes;
  std::vector<testing::PodSpec> pods;             // The pods that wait for a node.
  std::vector<testing::ObjectSpec> objects = {};  // The objects of other kinds.
  // The number of nodes from which `nodes` were selected; 0 if the cluster was not read.
  int nodes_of = 0;
};

// `columns`: the columns that the plugin reads. The nodes and pods have the labels, resources and
// host ports among them, with values that differ.
ContractCluster MakeContractCluster(std::span<const testing::ColumnName> columns);

// Returns events about the nodes and pods of the cluster, for hints.
std::vector<testing::EventSpec> MakeContractEvents(const ContractCluster& cluster);

// Returns the columns that the plugin requested when it was created, and those that PreFilter and
// PreScore bind for these pods.
std::vector<testing::ColumnName> FindColumns(testing::PluginUnderTest& plugin,
                                             std::span<const testing::PodSpec> pods);
// Returns the names of those of these columns for labels, resources and host ports that have no
// value on any node of the plugin's cluster.
std::vector<std::string> FindAbsentColumns(testing::PluginUnderTest& plugin,
                                           std::span<const testing::PodSpec> pods);

// --- cluster of manifests ------------------------------------------------------------------------
//
// Reads the cluster in which a plugin is checked from manifests.

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

#endif  // BERTH_HOST_CONTRACT_CONTRACT_CLUSTER_H_
