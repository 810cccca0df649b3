#include "host/cluster/embedded/stored_leases.h"

#include <utility>

#include "host/cluster/embedded/api_errors.h"

namespace berth::host {
namespace {

constexpr std::string_view kLeaseKind = "coordination.k8s.io/v1/Lease";

std::string LeaseKey(std::string_view ns, std::string_view name) {
  return std::string(ns).append(1, '/').append(name);
}

}  // namespace

Result<Lease> StoredLeases::Get(std::string_view ns, std::string_view name) const {
  const auto found = leases_.find(LeaseKey(ns, name));
  if (found == leases_.end()) return NotFoundError(kLeaseKind, name);
  return found->second;
}

Result<Lease> StoredLeases::Create(Lease lease) {
  const auto [place, is_new] = leases_.try_emplace(LeaseKey(lease.ns, lease.name));
  if (!is_new) return AlreadyExistsError(kLeaseKind, lease.name);
  lease.resource_version = versions_.Next();
  place->second = std::move(lease);
  return place->second;
}

Result<Lease> StoredLeases::Update(Lease lease) {
  if (lease.resource_version.empty()) {
    return InvalidError(kLeaseKind, lease.name, "metadata.resourceVersion",
                        "Invalid value: \"\": must be specified for an update");
  }
  const auto found = leases_.find(LeaseKey(lease.ns, lease.name));
  if (found == leases_.end()) return NotFoundError(kLeaseKind, lease.name);
  if (found->second.resource_version != lease.resource_version) {
    return StaleError(kLeaseKind, lease.name);
  }
  lease.resource_version = versions_.Next();
  found->second = std::move(lease);
  return found->second;
}

}  // namespace berth::host
