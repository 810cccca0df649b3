// The resources that the pods of a node use together.
#ifndef BERTH_TESTS_SIMULATION_NODE_SUMS_H_
#define BERTH_TESTS_SIMULATION_NODE_SUMS_H_

#include <cstdint>
#include <string_view>

#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

struct NodeSums {
  int64_t cpu = 0, memory = 0, gpus = 0, count = 0, nonzero_cpu = 0, nonzero_memory = 0;
};

// Returns the sums over the pods of the cluster that are on the node and have not finished.
NodeSums SumPodsOn(std::string_view node, const EmbeddedCluster& cluster);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_NODE_SUMS_H_
