// A cluster for a plugin that nobody knows: whatever it reads of nodes varies from node to node,
// and pods differ in all their parts.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_WORLD_H_
#define BERTH_HOST_CONTRACT_CONTRACT_WORLD_H_

#include <span>
#include <vector>

#include <berth/testing/builders.h>
#include <berth/testing/table.h>

namespace berth::host {

struct ContractWorld {
  std::vector<testing::NodeSpec> nodes;
  std::vector<testing::PodSpec> pods;  // That wait for a node.
};

// `columns`: what the plugin asks for; labels and resources among them are on nodes and in pods.
ContractWorld MakeContractWorld(std::span<const testing::ColumnName> columns);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_CONTRACT_WORLD_H_
