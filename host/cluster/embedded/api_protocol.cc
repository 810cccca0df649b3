#include "host/cluster/embedded/api_protocol.h"

#include <initializer_list>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/value.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kUnknownFormat =
    "the body of the request was in an unknown format - accepted media types include: ";

constexpr std::string_view kUnprocessable =
    "the server rejected our request due to an error in our request";

std::string Concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

// Returns the kind without its group and version: "Pod" for "v1/Pod".
std::string_view ShortKind(std::string_view kind) {
  return kind.substr(kind.find_last_of('/') + 1);
}

// Splits "/a/b/c" into a, b and c. Returns an empty list if a part is empty.
std::vector<std::string> Split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);
    const size_t end = path.find('/');
    parts.emplace_back(path.substr(0, end));
    if (parts.back().empty()) return {};
    path.remove_prefix(end == std::string_view::npos ? path.size() : end);
  }
  return parts;
}

struct HttpError {
  uint32_t code;
  std::string_view reason;
};

// Returns the HTTP code and the reason of an error. apimachinery: pkg/apis/meta/v1/types.go,
// StatusReason.
HttpError HttpErrorOf(const Status& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return IsInvalidError(error) || error.message().starts_with(kUnprocessable)
                 ? HttpError{422, "Invalid"}
                 : HttpError{400, "BadRequest"};
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

Json FromValue(const Value& value) {  // NOLINT(misc-no-recursion): as deep as a decoder allows.
  switch (value.kind()) {
    case BERTH_VALUE_BOOL: return value.boolean();
    case BERTH_VALUE_INT: return value.integer();
    case BERTH_VALUE_FLOAT: return value.number();
    case BERTH_VALUE_STRING: return std::string(value.text());
    case BERTH_VALUE_ARRAY: {
      Json array = Json::array();
      for (uint32_t i = 0; i < value.size(); ++i) array.push_back(FromValue(value.At(i).value));
      return array;
    }
    case BERTH_VALUE_OBJECT: {
      Json object = Json::object();
      for (uint32_t i = 0; i < value.size(); ++i) {
        const Member& member = value.At(i);
        object[std::string(Text(member.key))] = FromValue(member.value);
      }
      return object;
    }
    default: return nullptr;
  }
}

void SetTime(Json& metadata, const char* name, int64_t time_ns) {
  if (time_ns == 0) {
    metadata.erase(name);
  } else {
    metadata[name] = FormatTime(time_ns / kSecond * kSecond);  // metav1.Time has whole seconds.
  }
}

}  // namespace

// ---- Errors -------------------------------------------------------------------------------------

std::string ResourceOf(std::string_view kind) {
  std::string resource = ToLower(ShortKind(kind));
  if (resource.ends_with('s')) {
    resource.append("es");
  } else if (resource.ends_with('y')) {
    resource.replace(resource.size() - 1, 1, "ies");
  } else {
    resource.append("s");
  }
  const size_t first = kind.find('/');
  const bool has_group = first != std::string_view::npos && first != kind.find_last_of('/');
  if (has_group) resource.append(1, '.').append(kind.substr(0, first));
  return resource;
}

Status NoResourceError() {
  return Status::NotFound("the server could not find the requested resource");
}

Status NotFoundError(std::string_view kind, std::string_view name) {
  return Status::NotFound(Concat({ResourceOf(kind), " \"", name, "\" not found"}));
}

Status AlreadyExistsError(std::string_view kind, std::string_view name) {
  return Status::AlreadyExists(Concat({ResourceOf(kind), " \"", name, "\" already exists"}));
}

Status ConflictError(std::string_view resource, std::string_view name, std::string_view why) {
  return Status::Conflict(
      Concat({"Operation cannot be fulfilled on ", resource, " \"", name, "\": ", why}));
}

Status UidConflictError(std::string_view resource, std::string_view name, std::string_view expected,
                        std::string_view found) {
  return ConflictError(resource, name,
                       Concat({"Precondition failed: UID in precondition: ", expected,
                               ", UID in object meta: ", found}));
}

Status VersionConflictError(std::string_view resource, std::string_view name,
                            std::string_view expected, std::string_view found) {
  return ConflictError(resource, name,
                       Concat({"Precondition failed: ResourceVersion in precondition: ", expected,
                               ", ResourceVersion in object meta: ", found}));
}

Status StaleError(std::string_view kind, std::string_view name) {
  return ConflictError(ResourceOf(kind), name,
                       "the object has been modified; please apply your changes to the latest "
                       "version and try again");
}

Status InvalidError(std::string_view kind, std::string_view name, std::string_view field,
                    std::string_view why) {
  return Status::InvalidArgument(
      Concat({ShortKind(kind), " \"", name, "\" is invalid: ", field, ": ", why}));
}

Status UnprocessableError(std::string_view why) {
  return Status::InvalidArgument(Concat({kUnprocessable, ": ", why}));
}

Status MediaTypeError(std::string_view accepted) {
  return Status::Unsupported(Concat({kUnknownFormat, accepted}));
}

bool IsMediaTypeError(const Status& error) {
  return error.code() == ErrorCode::kUnsupported && error.message().starts_with(kUnknownFormat);
}

bool IsInvalidError(const Status& error) {
  const std::string_view message = error.message();
  const size_t space = message.find(' ');
  return error.code() == ErrorCode::kInvalidArgument && space != std::string_view::npos &&
         IsUpper(message[0]) && message.substr(space + 1).starts_with('"') &&
         message.find("\" is invalid: ") != std::string_view::npos;
}

// ---- Paths --------------------------------------------------------------------------------------

Result<ApiPath> ApiPath::Parse(std::string_view path) {
  ApiPath parsed;
  const size_t query = path.find('?');
  if (query != std::string_view::npos) parsed.query = path.substr(query + 1);
  const std::vector<std::string> parts = Split(path.substr(0, query));
  size_t next = 0;
  const auto take = [&]() -> std::string {
    return next < parts.size() ? parts[next++] : std::string();
  };
  const std::string root = take();
  if (root == "api") {
    parsed.group_version = take();
  } else if (root == "apis") {
    parsed.group_version = take() + "/";
    parsed.group_version += take();
  } else {
    return NoResourceError();
  }
  // "namespaces/a/pods" is a path of pods; "namespaces/a" and "namespaces/a/status" are paths of a
  // namespace.
  const size_t left = parts.size() - next;
  const bool is_namespaced = left >= 3 && parts[next] == "namespaces" &&
                             parts[next + 2] != "status" && parts[next + 2] != "finalize";
  if (is_namespaced) {
    take();
    parsed.ns = take();
  }
  parsed.resource = take();
  parsed.name = take();
  parsed.subresource = take();
  if (parsed.resource.empty() || next != parts.size()) return NoResourceError();
  return parsed;
}

bool ApiPath::IsPathOf(std::string_view kind) const {
  if (kind.substr(0, kind.rfind('/')) != group_version) return false;
  const std::string plural = ResourceOf(kind);
  return plural.substr(0, plural.find('.')) == resource;
}

// ---- The Status object --------------------------------------------------------------------------

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

// ---- Objects ------------------------------------------------------------------------------------

Json ToJson(const berth_value* value) {
  return value == nullptr ? Json() : FromValue(*Value::Of(value));
}

Json ToJson(const Object& object) {
  Json json = ToJson(object.value());
  WriteServerMeta(object, json);
  return json;
}

void WriteServerMeta(const ObjectBase& object, Json& json) {
  Json& metadata = json["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata["name"] = std::string(object.name());
  if (!object.ns().empty()) metadata["namespace"] = std::string(object.ns());
  metadata["uid"] = std::string(object.uid());
  metadata["resourceVersion"] = std::string(object.resource_version());
  SetTime(metadata, "creationTimestamp", object.meta().created_ns);
  SetTime(metadata, "deletionTimestamp", object.meta().deleted_ns);
}

Json MetadataOf(const ObjectBase& object) {
  Json json = {{"kind", "PartialObjectMetadata"},
               {"apiVersion", "meta.k8s.io/v1"},
               {"metadata", Json::object()}};
  WriteServerMeta(object, json);
  return json;
}

}  // namespace berth::host
