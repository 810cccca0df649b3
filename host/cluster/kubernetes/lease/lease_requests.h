// Reads and writes leases of coordination.k8s.io/v1 through a transport.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEASE_REQUESTS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEASE_REQUESTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"

namespace berth::host {

// The transport has two connections, which only requests for leases use.
//
// Update() replaces the whole object on the server. So that labels, annotations and fields of newer
// versions stay, it sends the lease as the server returned it last, with the changed fields; if the
// lease to update is another one, or another version of it, it sends the known fields only.
//
// Threading: the executor's thread of the transport.
// Lifetime:  the transport must outlive it, and is closed before this object is destroyed.
class LeaseRequests final : public LeaseStore {
 public:
  explicit LeaseRequests(Transport& transport) : transport_(transport) {}
  LeaseRequests(const LeaseRequests&) = delete;
  LeaseRequests& operator=(const LeaseRequests&) = delete;

  // Selects the lease that LeaseStore::Get() reads.
  void Use(std::string ns, std::string name);

  // REQUIRES: Use() was called.
  void Get(int64_t timeout_ns, ResultCallback<Lease> answer) override;
  void Create(const Lease& lease, int64_t timeout_ns, ResultCallback<Lease> answer) override;
  void Update(const Lease& lease, int64_t timeout_ns, ResultCallback<Lease> answer) override;

  void Get(std::string_view ns, std::string_view name, int64_t timeout_ns,
           ResultCallback<Lease> answer);

 private:
  // The text of the lease as the server returned it last.
  struct Stored {
    std::string ns;
    std::string name;
    std::string resource_version;
    std::string text;
  };

  void Send(HttpRequest request, ResultCallback<Lease> answer);
  // Returns the error or the lease of an answer, and keeps its text.
  Result<Lease> Read(const HttpResponse& response);

  Transport& transport_;
  std::string ns_;
  std::string name_;
  Stored stored_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEASE_REQUESTS_H_
