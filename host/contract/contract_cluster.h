// Creates the cluster in which a plugin is checked.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_CLUSTER_H_
#define BERTH_HOST_CONTRACT_CONTRACT_CLUSTER_H_

#include <span>
#include <string>
#include <vector>

#include <berth/testing/builders.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/table.h>

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

// Returns events for the hints about a parked pod, with one action each, as the queue passes them:
// nodes, pods that run, a new pod without a node, and the parked pod itself.
std::vector<testing::EventSpec> MakeContractEvents(const ContractCluster& cluster,
                                                   const testing::PodSpec& parked);

// Returns the columns that the plugin requested when it was created, and those that PreFilter and
// PreScore bind for these pods.
std::vector<testing::ColumnName> FindColumns(testing::PluginUnderTest& plugin,
                                             std::span<const testing::PodSpec> pods);
// Returns the names of those of these columns for labels, resources and host ports that have no
// value on any node of the plugin's cluster.
std::vector<std::string> FindAbsentColumns(testing::PluginUnderTest& plugin,
                                           std::span<const testing::PodSpec> pods);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_CONTRACT_CLUSTER_H_
