// Recognizes answers that do not come from an API server, or not in the form that was asked for.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ANSWERS_FOREIGN_ANSWER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ANSWERS_FOREIGN_ANSWER_H_

#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/http/transport.h"

namespace berth::host {

// Returns what the body of an answer is in place of JSON, for a message: "an HTML page", "a body in
// gzip", "protobuf of Kubernetes". Returns "" if headers and body show nothing of this kind.
// `body`: its beginning, or "" before it has arrived.
std::string DescribeForeignBody(const HttpHead& head, std::string_view body);

// Checks an answer to a request for JSON. The message states what was expected, what was found and
// what to do.
// Errors: kInvalidArgument for a body of DescribeForeignBody() with a status of 2xx, and for the
//         answer of a server that expects TLS; kUnsupported for a redirection. Every other answer
//         is Ok here: StatusOf() describes errors.
Status CheckAnswer(const HttpHead& head, std::string_view body);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ANSWERS_FOREIGN_ANSWER_H_
