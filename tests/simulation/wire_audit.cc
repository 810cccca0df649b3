#include "tests/simulation/wire_audit.h"

#include <string>

#include "host/base/assert.h"
#include "host/base/json_text.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/kubernetes/answers/api_error.h"
#include "tests/simulation/live_process.h"

namespace berth::host {

bool IsBinding(const HttpRequest& request) {
  return request.verb == "POST" && request.target.ends_with("/binding");
}

void WireAudit::OnSent(const HttpRequest& request) {
  if (process_ != nullptr) process_->OnSent(request);
}

void WireAudit::OnExecuted(const HttpRequest& request, const HttpResponse& response) {
  if (!IsBinding(request)) return;
  const Result<ApiPath> path = ApiPath::Parse(request.target);
  const auto body = ParseJson(request.body);
  BERTH_ASSERT(path.ok() && body.is_object());
  const std::string uid = body["metadata"].value("uid", "");
  const std::string node = body["target"].value("name", "");
  const PodName pod = {path->ns, path->name, uid};
  const Status status = StatusOf(response);
  trace_.Line("server: bind ", path->name, " to ", node, ": ", status.ToString());
  binds_.OnExecuted(pod, node, status);
  if (status.ok() && process_ != nullptr) process_->OnBindExecuted(pod, node);
}

}  // namespace berth::host
