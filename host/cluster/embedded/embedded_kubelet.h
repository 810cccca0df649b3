// The part of a kubelet that the embedded cluster needs: it finishes the deletion of pods.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/base/clock.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// Finishes each deletion that was requested in this cluster when its grace period has expired, as
// if the containers used all of it. A pod that was deleted elsewhere (in a dump, or in a remote
// cluster that is watched) stays until its removal is reported, whatever its deletionTimestamp is,
// so that the result does not depend on the time of day.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  the cluster and the clock must outlive this object.
class EmbeddedKubelet {
 public:
  // `clock` is the clock of the cluster.
  EmbeddedKubelet(EmbeddedCluster& cluster, const Clock& clock)
      : cluster_(cluster), clock_(clock) {}
  EmbeddedKubelet(const EmbeddedKubelet&) = delete;
  EmbeddedKubelet& operator=(const EmbeddedKubelet&) = delete;

  // Finishes the deletions that are due and returns their number.
  size_t RunDue();
  // Returns the time at which the next deletion is due; nullopt if none is pending.
  std::optional<int64_t> NextNs() const;

 private:
  EmbeddedCluster& cluster_;
  const Clock& clock_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_KUBELET_H_
