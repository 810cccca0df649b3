#include "host/cluster/embedded/status_object.h"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/cluster/embedded/api_errors.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

struct HttpError {
  uint32_t code;
  std::string_view reason;
};

// Returns the HTTP code and the reason of an error. apimachinery: pkg/apis/meta/v1/types.go,
// StatusReason.
HttpError HttpErrorOf(const Status& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return IsInvalidError(error) ? HttpError{422, "Invalid"} : HttpError{400, "BadRequest"};
    case ErrorCode::kPermissionDenied: return {403, "Forbidden"};
    case ErrorCode::kNotFound: return {404, "NotFound"};
    case ErrorCode::kUnsupported:
      return IsMediaTypeError(error) ? HttpError{415, "UnsupportedMediaType"}
                                     : HttpError{405, "MethodNotAllowed"};
    case ErrorCode::kAlreadyExists: return {409, "AlreadyExists"};
    case ErrorCode::kConflict: return {409, "Conflict"};
    case ErrorCode::kOutOfRange: return {413, "RequestEntityTooLarge"};
    case ErrorCode::kUnavailable: return {503, "ServiceUnavailable"};
    case ErrorCode::kOk:
    case ErrorCode::kInternal: break;
  }
  return {500, "InternalError"};
}

Json DetailsOf(const ApiPath& about) {
  Json details = Json::object();
  const size_t slash = about.group_version.find('/');
  if (!about.name.empty()) details["name"] = about.name;
  if (slash != std::string::npos) details["group"] = about.group_version.substr(0, slash);
  if (!about.resource.empty()) details["kind"] = about.resource;
  return details;
}

}  // namespace

uint32_t HttpStatusOf(const Status& error) {
  BERTH_ASSERT(!error.ok());
  return HttpErrorOf(error).code;
}

std::string StatusObject(const Status& error, const ApiPath& about) {
  BERTH_ASSERT(!error.ok());
  const auto [code, reason] = HttpErrorOf(error);
  return DumpJson(Json{{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object()},
                       {"status", "Failure"},
                       {"message", error.message()},
                       {"reason", reason},
                       {"details", DetailsOf(about)},
                       {"code", code}});
}

}  // namespace berth::host
