// A Lease, the object that elects a leader.
#ifndef BERTH_HOST_CLUSTER_LEASE_H_
#define BERTH_HOST_CLUSTER_LEASE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "host/base/status.h"

namespace berth::host {

// A Lease of coordination.k8s.io/v1.
struct Lease {
  std::string ns;
  std::string name;
  std::string resource_version;
  std::string holder_identity;  // Empty if the lease has no holder.
  int32_t duration_seconds = 0;
  int32_t transitions = 0;
  int64_t acquire_ns = 0;
  int64_t renew_ns = 0;
};

using LeaseCallback = std::function<void(Result<Lease>)>;

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_LEASE_H_
