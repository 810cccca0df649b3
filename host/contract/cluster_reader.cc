#include "host/contract/cluster_reader.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include <berth/testing/attempt.h>

#include "host/api/decode.h"
#include "host/api/manifest.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/contract/object_specs.h"
#include "host/plan/plan.h"

namespace berth::host {
namespace {

using testing::NodeSpec;
using testing::PodSpec;

// Returns at most `most` elements, evenly distributed over all.
template <class T>
std::vector<T> Sample(const std::vector<T>& all, size_t most) {
  std::vector<uint32_t> indices(all.size());
  for (size_t i = 0; i < all.size(); ++i) indices[i] = static_cast<uint32_t>(i);
  std::vector<T> sample;
  for (const uint32_t i : testing::SampleRows(indices, most)) sample.push_back(all[i]);
  return sample;
}

bool IsFinished(const PodSpec& pod) {
  return pod.phase == BERTH_PHASE_SUCCEEDED || pod.phase == BERTH_PHASE_FAILED;
}

// Returns a pod like `pod` that waits for a node.
PodSpec Waiting(const PodSpec& pod) {
  PodSpec waiting = testing::CopyOf(pod, "", "again");
  waiting.nominated_node.clear();
  waiting.started_ns = 0;
  waiting.conditions.clear();
  waiting.deleted_ns = 0;
  for (auto* containers : {&waiting.containers, &waiting.init_containers}) {
    for (testing::ContainerSpec& container : *containers) container.allocated.clear();
  }
  return waiting.Phase(BERTH_PHASE_PENDING);
}

// All objects of the manifests.
class Collector {
 public:
  explicit Collector(const ClusterParts& parts) : parts_(parts) {}

  Status Add(const AnyObject& object) {
    if (Status status = cluster_.Load(object); !status.ok()) return status;
    if (const auto* node = std::get_if<NodeRef>(&object)) {
      nodes_.push_back(SpecOf(**node));
    } else if (const auto* pod = std::get_if<PodRef>(&object)) {
      PodSpec spec = SpecOf(**pod);
      if (IsFinished(spec)) return {};
      if (spec.node_name.empty()) {
        if (spec.deleted_ns != 0) return {};  // The scheduler does not schedule it.
        waiting_.push_back(std::move(spec));
      } else {
        running_[spec.node_name].push_back(std::move(spec));
      }
    } else {
      const Object& other = **std::get_if<ObjectRef>(&object);
      if (parts_.kinds.contains(std::string(other.kind()))) objects_.push_back(SpecOf(other));
    }
    return {};
  }

  Result<ContractCluster> Take() {
    ContractCluster cluster;
    cluster.nodes = Sample(nodes_, kMaxClusterNodes);
    cluster.nodes_of = static_cast<int>(nodes_.size());
    std::vector<PodSpec> copies;
    for (NodeSpec& node : cluster.nodes) {
      for (PodSpec& pod : Sample(running_[node.name], kMaxPodsOnNode)) {
        copies.push_back(Waiting(pod));
        node.Pod(std::move(pod));
      }
    }
    cluster.pods = Sample(waiting_, kMaxClusterPods);
    for (PodSpec& pod : Sample(copies, kMaxClusterPods)) {
      if (cluster.pods.size() < kMaxClusterPods) cluster.pods.push_back(std::move(pod));
    }
    cluster.objects = std::move(objects_);
    if (!cluster.nodes.empty() && !cluster.pods.empty()) return cluster;
    return Status::InvalidArgument("the cluster: expected at least one node and one pod, found " +
                                   std::to_string(cluster.nodes.size()) + " nodes and " +
                                   std::to_string(cluster.pods.size()) + " pods");
  }

 private:
  const ClusterParts& parts_;
  const VirtualClock clock_{0};
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 0, .serve = nullptr}};
  std::vector<NodeSpec> nodes_;
  std::vector<PodSpec> waiting_;
  std::map<std::string, std::vector<PodSpec>> running_;  // By node.
  std::vector<testing::ObjectSpec> objects_;
};

}  // namespace

Result<ContractCluster> ReadContractCluster(std::span<const ClusterManifest> manifests,
                                            const ClusterParts& parts) {
  Interner interner;
  Decoder decoder(interner, DecodeOptionsFor(parts.fields));
  Collector collector(parts);
  for (const ClusterManifest& manifest : manifests) {
    Status status = ReadManifest(manifest.text, manifest.name, decoder,
                                 [&](const AnyObject& object) { return collector.Add(object); });
    if (!status.ok()) return status;
  }
  return collector.Take();
}

}  // namespace berth::host
