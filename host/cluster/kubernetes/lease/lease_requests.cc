#include "host/cluster/kubernetes/lease/lease_requests.h"

#include <utility>

#include "host/base/assert.h"
#include "host/cluster/kubernetes/http/api_error.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {

LeaseRequests::LeaseRequests(Transport& transport, std::string ns, std::string name)
    : transport_(transport), ns_(std::move(ns)), name_(std::move(name)) {
  BERTH_ASSERT(!name_.empty());
}

void LeaseRequests::Get(int64_t timeout_ns, LeaseCallback answer) {
  Send({.verb = "GET", .target = LeasePath(ns_, name_), .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Create(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) {
  Lease created = lease;
  created.resource_version.clear();
  Send({.verb = "POST",
        .target = LeasePath(ns_),
        .body = LeaseBody(created),
        .content_type = kJson,
        .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Update(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) {
  const bool is_stored = lease.resource_version == stored_version_;
  Send({.verb = "PUT",
        .target = LeasePath(ns_, name_),
        .body = LeaseBody(lease, is_stored ? stored_text_ : std::string_view()),
        .content_type = kJson,
        .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Send(HttpRequest request, LeaseCallback answer) {
  request.priority = 0;
  transport_.Send(std::move(request),
                  [this, answer = std::move(answer)](const HttpResponse& response) {
                    Result<Lease> lease = Read(response);
                    if (answer) answer(std::move(lease));
                  });
}

Result<Lease> LeaseRequests::Read(const HttpResponse& response) {
  if (Status status = StatusOf(response); !status.ok()) return status;
  Result<Lease> lease = ReadLease(response.body);
  if (lease.ok()) {
    stored_version_ = lease->resource_version;
    stored_text_ = response.body;
  }
  return lease;
}

}  // namespace berth::host
