// The one thing that the embedded cluster needs of its nodes: that pods which are told to go do go.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// Finishes deletions that were decided here when their grace period is up: containers that use it
// up. A pod that somebody else deleted (of a dump, or of a watch of a cluster elsewhere) stays
// until it is said to be gone, whatever its deletionTimestamp says: what happens does not depend on
// the time of day.
//
// Threading: the owner's thread of the cluster.
// Lifetime:  the cluster and the clock must outlive it.
class EmbeddedKubelet {
 public:
  // `now_ns`: the cluster's clock.
  EmbeddedKubelet(EmbeddedCluster& cluster, std::function<int64_t()> now_ns)
      : cluster_(cluster), now_ns_(std::move(now_ns)) {}
  EmbeddedKubelet(const EmbeddedKubelet&) = delete;
  EmbeddedKubelet& operator=(const EmbeddedKubelet&) = delete;

  // Finishes what is due, and returns how many deletions that were.
  size_t RunDue();
  // When the next one is due; none: no pod is going.
  std::optional<int64_t> NextNs() const;

 private:
  EmbeddedCluster& cluster_;
  const std::function<int64_t()> now_ns_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_
