#include "host/cluster/kubernetes/watch/stream_end.h"

#include <algorithm>
#include <utility>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

EndReason ReasonOf(uint32_t http_status, const ServerStatus& server) {
  if (IsVersionTooLarge(http_status, server)) return EndReason::kTooLarge;
  if (IsExpired(http_status, server)) return EndReason::kExpired;
  if (RefusesInitialEvents(http_status)) return EndReason::kRefused;
  if (http_status == 401 || http_status == 403) return EndReason::kDenied;
  if (http_status == 404) return EndReason::kNotFound;
  return http_status == 429 ? EndReason::kBusy : EndReason::kError;
}

// Returns the user of a message such as `nodes is forbidden: User "system:x" cannot list ...`, with
// its quotes; empty if there is none.
std::string_view UserIn(std::string_view message) {
  constexpr std::string_view kMark = "User \"";
  const size_t at = message.find(kMark);
  if (at == message.npos) return {};
  const size_t end = message.find('"', at + kMark.size());
  if (end == message.npos) return {};
  const size_t quote = at + kMark.size() - 1;
  return message.substr(quote, end + 1 - quote);
}

}  // namespace

StreamEnd EndOf(const HttpResponse& response) {
  if (!response.status.ok()) {
    const bool is_denied = response.status.code() == ErrorCode::kPermissionDenied;
    return {is_denied ? EndReason::kDenied : EndReason::kBusy, response.status};
  }
  if (response.is_success()) return {};
  const ServerStatus server = ReadServerStatus(response.body);
  const int64_t retry_ns =
      std::max(response.head.retry_after_ns, server.retry_after_seconds * kSecond);
  return {ReasonOf(response.head.http_status, server), StatusOf(response), retry_ns};
}

StreamEnd EndOf(const ServerStatus& server) {
  const EndReason why = ReasonOf(server.code, server);
  std::string message = server.message.empty() ? "the watch ended with an error" : server.message;
  return {why, Status::Unavailable(std::move(message)), server.retry_after_seconds * kSecond};
}

std::string MissingRuleText(const Resource& resource, std::string_view verb,
                            std::string_view needed_by, std::string_view server_message) {
  std::string text = "cannot ";
  text.append(verb).append(" ").append(resource.plural);
  if (!needed_by.empty()) text.append(" (needed by ").append(needed_by).append(")");
  const std::string_view user = UserIn(server_message);
  if (user.empty()) {
    text.append(": ").append(server_message);
  } else {
    text.append(": the user ").append(user).append(" may not");
  }
  text.append(". Add this rule to one of its roles: {apiGroups: [");
  text.append(resource.group.empty() ? "\"\"" : resource.group);
  return text.append("], resources: [")
      .append(resource.plural)
      .append("], verbs: [get, list, watch]}");
}

}  // namespace berth::host
