// The Leases of an embedded cluster.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STORED_LEASES_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STORED_LEASES_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cluster/embedded/resource_versions.h"
#include "host/cluster/lease.h"

namespace berth::host {

// Stores leases with optimistic concurrency. The errors and their texts are those of an API server.
//
// Errors:    Get(): kNotFound. Create(): kAlreadyExists. Update(): kNotFound; kConflict if the
//            resourceVersion is not the current one; kInvalidArgument if it is empty.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  `versions` must outlive this object.
class StoredLeases {
 public:
  explicit StoredLeases(ResourceVersions& versions) : versions_(versions) {}
  StoredLeases(const StoredLeases&) = delete;
  StoredLeases& operator=(const StoredLeases&) = delete;

  Result<Lease> Get(std::string_view ns, std::string_view name) const;
  // Returns: the lease as stored, with its resourceVersion.
  Result<Lease> Create(Lease lease);
  // Returns: the lease as stored, with its new resourceVersion.
  Result<Lease> Update(Lease lease);

 private:
  ResourceVersions& versions_;
  std::map<std::string, Lease, std::less<>> leases_;  // By "namespace/name".
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STORED_LEASES_H_
