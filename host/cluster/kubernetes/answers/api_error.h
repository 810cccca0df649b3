// Converts the answers of an API server to the errors that host/cluster/client.h defines.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ANSWERS_API_ERROR_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ANSWERS_API_ERROR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/http/transport.h"

namespace berth::host {

// The fields of a Status object (meta/v1) that Berth reads.
struct ServerStatus {
  uint32_t code = 0;
  std::string reason;  // Such as "Expired"; empty if the body is no Status object.
  std::string message;
  // The first details.causes[].reason that is not empty, such as "ResourceVersionTooLarge".
  std::string cause;
  int64_t retry_after_seconds = 0;  // details.retryAfterSeconds.
};

// Reads the body of an error, or the object of an ERROR event of a watch. Never fails: what cannot
// be read is empty.
ServerStatus ReadServerStatus(std::string_view body);

// Returns the error of an answer as client.h defines it; Ok for 2xx. The message is that of the
// server; without one it names the HTTP status, "the server responded with 502 Bad Gateway", and
// what the body is if DescribeForeignBody() recognizes it. The
// statuses that client.h does not list: 408 is kUnavailable, other 4xx are kInvalidArgument, other
// 5xx are kInternal, and redirections are kUnsupported.
Status StatusOf(const HttpResponse& response);
// Returns the answer as DecisionWriter::Request() defines it.
ApiResponse ApiResponseOf(HttpResponse response);

// How a request that failed goes on.
enum class RetryClass : uint8_t {
  kFinal,        // The server has decided. Repeating the request would give the same answer.
  kNotExecuted,  // It was not executed: 429, 503 with Retry-After, or no byte was sent.
  kUnknown,      // It may have been executed: no answer, 408, 503 without Retry-After, other 5xx.
};
// REQUIRES: !response.is_success().
RetryClass RetryClassOf(const HttpResponse& response);

// Both return true if a list or a watch must start again without a resourceVersion. `http_status`
// is that of the answer; for an ERROR event of a watch, whose answer was 200, the code of `status`
// counts. (client-go: isExpiredError, isTooLargeResourceVersionError)
// IsExpired: 410, or the reason Expired or Gone.
bool IsExpired(uint32_t http_status, const ServerStatus& status);
// IsVersionTooLarge: 504 with the cause ResourceVersionTooLarge.
bool IsVersionTooLarge(uint32_t http_status, const ServerStatus& status);
// Returns whether the server refuses sendInitialEvents: 400 or 422. (client-go falls back to a list
// then.)
bool RefusesInitialEvents(uint32_t http_status);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ANSWERS_API_ERROR_H_
