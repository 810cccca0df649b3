#include "host/cluster/embedded/embedded_api.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/embedded/api_errors.h"
#include "host/cluster/embedded/object_json.h"
#include "host/cluster/embedded/status_object.h"
#include "host/cluster/embedded/status_patch.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

std::string NotServedMessage(const ApiRequest& request, const std::string& why) {
  return "the embedded cluster does not serve " + request.verb + " " + request.path + ": " + why;
}

Status NotServed(const ApiRequest& request, const std::string& why) {
  return Status::Unsupported(NotServedMessage(request, why));
}

// Returns the string in `json` at a path of keys; empty if there is none.
std::string TextAt(const Json& json, std::initializer_list<const char*> keys) {
  const Json* at = &json;
  for (const char* key : keys) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (!at->is_object() || found == at->end()) return "";
    at = &*found;
  }
  return at->is_string() ? at->get<std::string>() : "";
}

// Returns the response for a stored object: its JSON text, or for a pod or node the received body
// with the fields that the server sets.
Json ResponseFor(const AnyObject& object, Json body) {
  if (const auto* tree = std::get_if<ObjectRef>(&object)) return ToJson(**tree);
  WriteServerMeta(Base(object), body);
  return body;
}

Status CheckQuery(const ApiRequest& request, std::string_view query) {
  constexpr std::array<std::string_view, 4> kIgnored = {"fieldManager", "limit", "pretty",
                                                        "timeout"};
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const std::string_view key = one.substr(0, one.find('='));
    if (std::ranges::find(kIgnored, key) == kIgnored.end()) {
      return NotServed(request, "the query parameter " + std::string(key) + " is not supported");
    }
  }
  return {};
}

// ---- Delete options (meta/v1 DeleteOptions) -----------------------------------------------------

// Checks the preconditions of a deletion. apiserver: storage/interfaces.go, Preconditions.Check.
Status CheckPreconditions(const ApiRequest& request, const Json& preconditions,
                          std::string_view kind, const ObjectBase& object) {
  if (!preconditions.is_object()) {
    return Status::InvalidArgument("/preconditions: expected an object, found " +
                                   QuotedJson(preconditions));
  }
  const std::string resource = ResourceOf(kind);
  for (const auto& [key, value] : preconditions.items()) {
    if (key != "uid" && key != "resourceVersion") {
      return NotServed(request, "the precondition " + key + " is not supported");
    }
    if (value.is_null()) continue;
    if (!value.is_string()) {
      return Status::InvalidArgument("/preconditions/" + key + ": expected a string, found " +
                                     QuotedJson(value));
    }
    const auto& text = value.get_ref<const std::string&>();
    if (key == "uid" && text != object.uid()) {
      return UidConflictError(resource, object.name(), text, object.uid());
    }
    if (key == "resourceVersion" && text != object.resource_version()) {
      return VersionConflictError(resource, object.name(), text, object.resource_version());
    }
  }
  return {};
}

// Returns the grace period of the delete options; nullopt if the object's own grace period applies.
// Returns an error if the object must not be deleted.
Result<std::optional<int64_t>> ReadDeleteOptions(const ApiRequest& request, std::string_view kind,
                                                 const ObjectBase& object) {
  std::optional<int64_t> grace_seconds;
  if (request.body.empty()) return grace_seconds;
  const Result<Json> options = ParseBody(request.body);
  if (!options.ok()) return options.status();
  for (const auto& [key, value] : options->items()) {
    if (value.is_null() || key == "kind" || key == "apiVersion") continue;
    if (key == "preconditions") {
      Status status = CheckPreconditions(request, value, kind, object);
      if (!status.ok()) return status;
    } else if (key == "gracePeriodSeconds") {
      if (!value.is_number_integer()) {
        return Status::InvalidArgument("/gracePeriodSeconds: expected a whole number, found " +
                                       QuotedJson(value));
      }
      constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
      const bool is_beyond = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{kMost};
      grace_seconds = is_beyond ? kMost : value.get<int64_t>();
    } else {
      return NotServed(request, "the option " + key + " is not supported");
    }
  }
  return grace_seconds;
}

// ---- Media types --------------------------------------------------------------------------------

// Returns the media type of the body without its parameters.
std::string MediaType(const ApiRequest& request) {
  std::string_view type = request.ContentType();
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return ToLower(type);
}

// Returns an error if the body has a media type that the request does not accept.
Status CheckMediaType(const ApiRequest& request, bool is_pod_status) {
  const std::string type = MediaType(request);
  if (request.verb != "PATCH") {
    const bool ok = request.body.empty() || type == kJson;
    return ok ? Status() : MediaTypeError(kJson);
  }
  const bool ok = type == kMergePatch || (is_pod_status && type == kStrategicMergePatch);
  if (ok) return {};
  std::string accepted(kMergePatch);
  if (is_pod_status) accepted.append(", ").append(kStrategicMergePatch);
  return MediaTypeError(accepted);
}

bool HasJsonText(std::string_view kind) { return kind != kPodKind && kind != kNodeKind; }

}  // namespace

ApiResponse EmbeddedApi::Serve(const ApiRequest& request) {
  const Result<ApiPath> path = ApiPath::Parse(request.path);
  const Result<Json> answer = path.ok() ? Answer(*path, request) : path.status();
  ApiResponse response{.status = answer.status(), .content_type = std::string(kJson)};
  if (answer.ok()) {
    response.http_status = request.verb == "POST" ? 201 : 200;
    response.body = DumpJson(*answer);
  } else {
    response.http_status = HttpStatusOf(response.status);
    response.body = StatusObject(response.status, path.ok() ? *path : ApiPath{});
  }
  return response;
}

Result<Json> EmbeddedApi::Answer(const ApiPath& path, const ApiRequest& request) {
  const std::string kind = KindAt(path);
  if (kind.empty() && request.verb != "POST") return NoResourceError();
  if (path.IsPathOf(kNodeKind) && !path.ns.empty()) return NoResourceError();
  const bool is_status = path.subresource == "status" && path.IsPathOf(kPodKind);
  if (!path.subresource.empty() && !is_status) {
    return Status::NotFound(
        NotServedMessage(request, "the subresource " + path.subresource + " is not supported"));
  }
  if (is_status && request.verb != "PATCH") {
    return NotServed(request, "the text of pods and nodes is not stored");
  }
  if (Status status = CheckQuery(request, path.query); !status.ok()) return status;
  if (Status status = CheckMediaType(request, is_status); !status.ok()) return status;
  if (is_status) return PatchPodStatus(path, request);
  return Dispatch(path, kind, request);
}

Result<Json> EmbeddedApi::Dispatch(const ApiPath& path, const std::string& kind,
                                   const ApiRequest& request) {
  if (request.verb == "POST") return Create(path, request);
  const bool is_read = request.verb == "GET" || request.verb == "PATCH";
  if (is_read && !HasJsonText(kind))
    return NotServed(request, "the text of pods and nodes is not stored");
  if (request.verb == "GET") return path.name.empty() ? List(path, kind) : Get(path, kind);
  if (path.name.empty()) return NotServed(request, "the path has no object name");
  if (request.verb == "PATCH") return Patch(path, kind, request);
  if (request.verb == "DELETE") return Delete(path, kind, request);
  if (request.verb != "PUT") return NotServed(request, "the verb is not supported");
  Result<Json> body = ParseBody(request.body);
  return body.ok() ? Replace(path, kind, *std::move(body)) : body;
}

std::string EmbeddedApi::KindAt(const ApiPath& path) const {
  for (const std::string& kind : cluster_.Kinds()) {
    if (path.IsPathOf(kind)) return kind;
  }
  return "";
}

Result<AnyObject> EmbeddedApi::DecodeFor(const ApiPath& path, Json body) {
  const std::string kind = TextAt(body, {"apiVersion"}) + "/" + TextAt(body, {"kind"});
  if (!path.IsPathOf(kind)) {
    return Status::InvalidArgument("the kind of the body (" + kind + ") does not match the path (" +
                                   path.group_version + " " + path.resource + ")");
  }
  Json& metadata = body["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) {
    return Status::InvalidArgument("/metadata: expected an object, found " + QuotedJson(metadata));
  }
  const std::string name = TextAt(metadata, {"name"});
  if (!path.name.empty() && name != path.name) {
    return Status::InvalidArgument("the name of the object (" + name +
                                   ") does not match the name on the URL (" + path.name + ")");
  }
  const std::string ns = TextAt(metadata, {"namespace"});
  if (!ns.empty() && !path.ns.empty() && ns != path.ns) {
    return Status::InvalidArgument("the namespace of the object (" + ns +
                                   ") does not match the namespace on the URL (" + path.ns + ")");
  }
  if (!path.ns.empty()) {
    Json& place = metadata["namespace"];
    if (place.is_null() || place.is_string()) place = path.ns;
  }
  return decoder_.Decode(DumpJson(body));
}

Result<Json> EmbeddedApi::Get(const ApiPath& path, const std::string& kind) {
  const auto object = cluster_.Find(kind, path.ns, path.name);
  if (!object.has_value()) return NotFoundError(kind, path.name);
  return ToJson(*std::get<ObjectRef>(*object));
}

Result<Json> EmbeddedApi::List(const ApiPath& path, const std::string& kind) {
  Json items = Json::array();
  for (const AnyObject& object : cluster_.List(kind)) {
    if (!path.ns.empty() && Base(object).ns() != path.ns) continue;
    items.push_back(ToJson(*std::get<ObjectRef>(object)));
  }
  return Json{{"kind", kind.substr(kind.rfind('/') + 1) + "List"},
              {"apiVersion", path.group_version},
              {"metadata", {{"resourceVersion", std::to_string(cluster_.resource_version())}}},
              {"items", std::move(items)}};
}

Result<Json> EmbeddedApi::Create(const ApiPath& path, const ApiRequest& request) {
  if (!path.name.empty())
    return NotServed(request, "an object is created with the path of its collection");
  if (path.IsPathOf(kPodKind) && path.ns.empty()) {
    return NotServed(request, "a pod is created with the path of its namespace");
  }
  Result<Json> body = ParseBody(request.body);
  if (!body.ok()) return body;
  Result<AnyObject> object = DecodeFor(path, *body);
  if (!object.ok()) return std::move(object).status();
  Result<AnyObject> made = cluster_.Create(*std::move(object));
  if (!made.ok()) return std::move(made).status();
  return ResponseFor(*made, *std::move(body));
}

Result<Json> EmbeddedApi::Replace(const ApiPath& path, const std::string& kind, Json body) {
  Result<AnyObject> object = DecodeFor(path, body);
  if (!object.ok()) return std::move(object).status();
  if (!cluster_.Find(kind, path.ns, path.name).has_value()) return NotFoundError(kind, path.name);
  Result<AnyObject> stored = cluster_.Update(*std::move(object));
  if (!stored.ok()) return std::move(stored).status();
  return ResponseFor(*stored, std::move(body));
}

Result<Json> EmbeddedApi::Patch(const ApiPath& path, const std::string& kind,
                                const ApiRequest& request) {
  Result<Json> patch = ParseBody(request.body);
  if (!patch.ok()) return patch;
  Result<Json> json = Get(path, kind);
  if (!json.ok()) return json;
  json->merge_patch(*patch);
  return Replace(path, kind, *std::move(json));
}

Result<Json> EmbeddedApi::PatchPodStatus(const ApiPath& path, const ApiRequest& request) {
  Result<Json> body = ParseBody(request.body);
  if (!body.ok()) return body;
  StatusPatch patch;
  const PatchKind kind =
      MediaType(request) == kMergePatch ? PatchKind::kMerge : PatchKind::kStrategicMerge;
  Status status = patch.Read(*body, kind, cluster_.clock().NowNs());
  if (!status.ok()) return status;
  status = cluster_.PatchStatus({path.ns, path.name, patch.uid()}, patch.patch());
  if (!status.ok()) return status;
  return MetadataOf(*cluster_.FindPod(path.ns, path.name));
}

Result<Json> EmbeddedApi::Delete(const ApiPath& path, const std::string& kind,
                                 const ApiRequest& request) {
  const auto object = cluster_.Find(kind, path.ns, path.name);
  if (!object.has_value()) return NotFoundError(kind, path.name);
  const auto grace_seconds = ReadDeleteOptions(request, kind, Base(*object));
  if (!grace_seconds.ok()) return grace_seconds.status();
  if (kind == kPodKind && grace_seconds->has_value()) {
    cluster_.DeletePod({path.ns, path.name, {}}, *grace_seconds, nullptr);
  } else if (Status status = cluster_.Delete(kind, path.ns, path.name); !status.ok()) {
    return status;
  }
  const auto left = cluster_.Find(kind, path.ns, path.name);
  return MetadataOf(Base(left.has_value() ? *left : *object));
}

}  // namespace berth::host
