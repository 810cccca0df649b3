// Why the answer to a list or a watch ended, for the decision how to go on.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_STREAM_END_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_STREAM_END_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/http/api_error.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

// Why a stream ended.
enum class EndReason : uint8_t {
  kEnded,       // In order, or the connection was lost after the answer had begun.
  kExpired,     // 410.
  kTooLarge,    // 504: the server has not reached the resourceVersion.
  kRefused,     // 400 or 422.
  kDenied,      // 401 or 403, or the connection cannot be verified.
  kNotFound,    // 404.
  kBusy,        // No connection, or 429.
  kError,       // Any other answer or ERROR event.
  kUnreadable,  // A line that is no event.
  kLagged,      // An older state than before.
};

struct StreamEnd {
  EndReason why = EndReason::kEnded;
  Status status = {};
  int64_t retry_after_ns = 0;
};

StreamEnd EndOf(const HttpResponse& response);
// Returns the end that an ERROR event of a watch causes.
StreamEnd EndOf(const ServerStatus& server);

// Returns the error of a request that RBAC denied, with the rule that is missing:
//   cannot list nodes (needed by the host): the user "system:serviceaccount:kube-system:berth" may
//   not. Add this rule to one of its roles: {apiGroups: [""], resources: [nodes], verbs: [get,
//   list, watch]}
// `needed_by`: the host or the plugins that need the kind.
std::string MissingRuleText(const Resource& resource, std::string_view verb,
                            std::string_view needed_by, std::string_view server_message);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_STREAM_END_H_
