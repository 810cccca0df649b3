#include "host/cluster/kubernetes/lease/lease_requests.h"

#include <utility>

#include "host/base/assert.h"
#include "host/cluster/kubernetes/http/api_error.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {

void LeaseRequests::Use(std::string ns, std::string name) {
  ns_ = std::move(ns);
  name_ = std::move(name);
}

void LeaseRequests::Get(int64_t timeout_ns, ResultCallback<Lease> answer) {
  Get(ns_, name_, timeout_ns, std::move(answer));
}

void LeaseRequests::Get(std::string_view ns, std::string_view name, int64_t timeout_ns,
                        ResultCallback<Lease> answer) {
  BERTH_ASSERT(!name.empty());
  Send({.verb = "GET", .target = LeasePath(ns, name), .timeout_ns = timeout_ns}, std::move(answer));
}

void LeaseRequests::Create(const Lease& lease, int64_t timeout_ns, ResultCallback<Lease> answer) {
  Lease created = lease;
  created.resource_version.clear();
  Send({.verb = "POST",
        .target = LeasePath(lease.ns),
        .body = LeaseBody(created),
        .content_type = kJson,
        .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Update(const Lease& lease, int64_t timeout_ns, ResultCallback<Lease> answer) {
  BERTH_ASSERT(!lease.name.empty());
  const bool is_stored = lease.ns == stored_.ns && lease.name == stored_.name &&
                         lease.resource_version == stored_.resource_version;
  Send({.verb = "PUT",
        .target = LeasePath(lease.ns, lease.name),
        .body = LeaseBody(lease, is_stored ? stored_.text : std::string_view()),
        .content_type = kJson,
        .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Send(HttpRequest request, ResultCallback<Lease> answer) {
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
  if (lease.ok()) stored_ = {lease->ns, lease->name, lease->resource_version, response.body};
  return lease;
}

}  // namespace berth::host
