#include "host/cluster/kubernetes/answers/api_error.h"

#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/answers/foreign_answer.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// Returns 0 for what is no number from 0 to `max`.
int64_t NumberAt(const Json& object, const char* key, int64_t max) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return 0;
  const auto number = found->get<uint64_t>();
  return number <= static_cast<uint64_t>(max) ? static_cast<int64_t>(number) : 0;
}

// Returns the reason of the first cause that has one.
std::string FirstCause(const Json& details) {
  const auto causes = details.find("causes");
  if (causes == details.end() || !causes->is_array()) return "";
  for (const Json& cause : *causes) {
    if (!cause.is_object()) continue;
    std::string reason = TextMember(cause, "reason");
    if (!reason.empty()) return reason;
  }
  return "";
}

constexpr std::pair<uint32_t, std::string_view> kStatusNames[] = {
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Request Entity Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"}};

std::string MessageOf(const HttpResponse& response, const ServerStatus& status) {
  const uint32_t http_status = response.head.http_status;
  if (!status.message.empty()) return status.message;
  std::string message = "the server responded with " + std::to_string(http_status);
  for (const auto& [code, name] : kStatusNames) {
    if (code == http_status) message.append(1, ' ').append(name);
  }
  const std::string found = DescribeForeignBody(response.head, response.body);
  if (found.empty()) return message;
  return message.append(" and ").append(found).append(
      ", not with a Status of Kubernetes: perhaps a proxy or another server has answered");
}

ErrorCode CodeOf(uint32_t http_status, const ServerStatus& status) {
  switch (http_status) {
    case 401:
    case 403: return ErrorCode::kPermissionDenied;
    case 404: return ErrorCode::kNotFound;
    case 405:
    case 406:
    case 415: return ErrorCode::kUnsupported;
    case 409:
      return status.reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kConflict;
    case 410:
    case 413: return ErrorCode::kOutOfRange;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504: return ErrorCode::kUnavailable;
    default: break;
  }
  if (http_status >= 500) return ErrorCode::kInternal;
  // An API server sends no redirection to a client of its API, and none is followed.
  if (http_status < 400) return ErrorCode::kUnsupported;
  return ErrorCode::kInvalidArgument;
}

}  // namespace

ServerStatus ReadServerStatus(std::string_view body) {
  const Result<Json> json = ParseBody(body);
  if (!json.ok() || TextMember(*json, "kind") != "Status") return {};
  ServerStatus status;
  status.code = static_cast<uint32_t>(NumberAt(*json, "code", 999));
  status.reason = TextMember(*json, "reason");
  status.message = TextMember(*json, "message");
  const auto details = json->find("details");
  if (details == json->end() || !details->is_object()) return status;
  status.cause = FirstCause(*details);
  status.retry_after_seconds =
      NumberAt(*details, "retryAfterSeconds", std::numeric_limits<int32_t>::max());
  return status;
}

Status StatusOf(const HttpResponse& response) {
  if (!response.status.ok() || response.is_success()) return response.status;
  const uint32_t http_status = response.head.http_status;
  const ServerStatus status = ReadServerStatus(response.body);
  return {CodeOf(http_status, status), MessageOf(response, status)};
}

ApiResponse ApiResponseOf(HttpResponse response) {
  ApiResponse answer;
  answer.status = StatusOf(response);
  if (!response.status.ok()) return answer;
  answer.http_status = response.head.http_status;
  answer.retry_after_ns = response.head.retry_after_ns;
  answer.content_type = std::move(response.head.content_type);
  answer.body = std::move(response.body);
  return answer;
}

RetryClass RetryClassOf(const HttpResponse& response) {
  if (!response.status.ok()) {
    return response.delivery == Delivery::kNotSent ? RetryClass::kNotExecuted
                                                   : RetryClass::kUnknown;
  }
  const uint32_t http_status = response.head.http_status;
  if (http_status == 429) return RetryClass::kNotExecuted;
  if (http_status == 503 && response.head.retry_after_ns > 0) return RetryClass::kNotExecuted;
  if (http_status == 408 || http_status >= 500) return RetryClass::kUnknown;
  return RetryClass::kFinal;
}

bool IsExpired(uint32_t http_status, const ServerStatus& status) {
  return http_status == 410 || status.code == 410 || status.reason == "Expired" ||
         status.reason == "Gone";
}

bool IsVersionTooLarge(uint32_t http_status, const ServerStatus& status) {
  return (http_status == 504 || status.code == 504) && status.cause == "ResourceVersionTooLarge";
}

bool RefusesInitialEvents(uint32_t http_status) { return http_status == 400 || http_status == 422; }

}  // namespace berth::host
