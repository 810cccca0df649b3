// The one thing that the embedded cluster needs of its nodes: that pods which are told to go do go.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// Watches pods on nodes, and finishes their deletion at their deletionTimestamp: containers that
// use up the grace period. What was to be gone before it was seen is somebody else's business: a
// dump, or a watch of a cluster elsewhere, whose own nodes say when.
//
// Threading: the owner's thread of the cluster.
// Lifetime:  the cluster and the clock must outlive it.
class EmbeddedKubelet final : private WatchSink {
 public:
  // `now_ns`: the cluster's clock.
  EmbeddedKubelet(EmbeddedCluster& cluster, std::function<int64_t()> now_ns);
  EmbeddedKubelet(const EmbeddedKubelet&) = delete;
  EmbeddedKubelet& operator=(const EmbeddedKubelet&) = delete;

  // Finishes what is due, and returns how many deletions that were.
  size_t RunDue();
  // When the next one is due; none: no pod is going.
  std::optional<int64_t> NextNs() const;

 private:
  // When; uid, namespace and name of the pod.
  using Deletion = std::tuple<int64_t, std::string, std::string, std::string>;

  void OnEvents(std::span<WatchEvent> events) override;
  static Deletion DeletionOf(const Pod& pod);

  EmbeddedCluster& cluster_;
  const std::function<int64_t()> now_ns_;
  std::set<Deletion> deletions_;
  std::unique_ptr<Watch> watch_;  // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_
