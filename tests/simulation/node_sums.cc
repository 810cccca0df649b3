#include "tests/simulation/node_sums.h"

#include "tests/simulation/sketch.h"

namespace berth::host {
namespace {

void Add(const Pod& pod, NodeSums& sums) {
  const berth_resources& holds = *pod.view().accounted;
  sums.cpu += holds.milli_cpu;
  sums.memory += holds.memory;
  for (const auto& scalar : Elements<berth_quantity>(holds.scalars)) {
    if (pod.Name(scalar.name) == kGpu) sums.gpus += scalar.value;
  }
  ++sums.count;
  sums.nonzero_cpu += pod.view().nonzero_milli_cpu;
  sums.nonzero_memory += pod.view().nonzero_memory;
}

}  // namespace

NodeSums SumPodsOn(std::string_view node, const EmbeddedCluster& cluster) {
  NodeSums sums;
  for (const AnyObject& object : cluster.List(kPodKind)) {
    const Pod& pod = *std::get<PodRef>(object);
    if (pod.node_name() == node && !HasFinished(pod)) Add(pod, sums);
  }
  return sums;
}

}  // namespace berth::host
