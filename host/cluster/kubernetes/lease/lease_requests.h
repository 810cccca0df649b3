// Reads and writes a lease of coordination.k8s.io/v1 through a transport.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEASE_REQUESTS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEASE_REQUESTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"

namespace berth::host {

// The transport has two connections, which only requests for leases use.
//
// Create() and Update() are for the lease with the namespace and the name of the constructor.
// Update() replaces the whole object on the server. So that labels, annotations and fields of newer
// versions stay, it sends the lease as the server returned it last, with the changed fields; if the
// lease to update is another version of it, it sends the known fields only.
//
// Threading: the executor's thread of the transport.
// Lifetime:  the transport must outlive it, and is closed before this object is destroyed.
class LeaseRequests final : public LeaseStore {
 public:
  // REQUIRES: `name` is not empty.
  LeaseRequests(Transport& transport, std::string ns, std::string name);
  LeaseRequests(const LeaseRequests&) = delete;
  LeaseRequests& operator=(const LeaseRequests&) = delete;

  void Get(int64_t timeout_ns, LeaseCallback answer) override;
  void Create(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override;
  void Update(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override;

 private:
  void Send(HttpRequest request, LeaseCallback answer);
  // Returns the error or the lease of an answer, and keeps its text.
  Result<Lease> Read(const HttpResponse& response);

  Transport& transport_;
  const std::string ns_;
  const std::string name_;
  // The lease as the server returned it last.
  std::string stored_version_;
  std::string stored_text_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEASE_REQUESTS_H_
