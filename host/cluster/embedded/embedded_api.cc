#include "host/cluster/embedded/embedded_api.h"

#include <optional>
#include <utility>

#include "host/cluster/embedded/api_errors.h"
#include "host/cluster/embedded/object_json.h"
#include "host/cluster/embedded/status_patch.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

Status NotServed(const ApiRequest& request, const std::string& why) {
  return Status::Unsupported("the embedded cluster does not serve " + request.verb + " " +
                             request.path + ": " + why);
}

Result<Json> ParseBody(const ApiRequest& request) {
  Json json = Json::parse(request.body, nullptr, false);
  if (!json.is_object()) return Status::InvalidArgument("the body is no JSON object");
  return json;
}

// A text in `json` at a path of keys; empty where there is none.
std::string TextAt(const Json& json, std::initializer_list<const char*> keys) {
  const Json* at = &json;
  for (const char* key : keys) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (!at->is_object() || found == at->end()) return "";
    at = &*found;
  }
  return at->is_string() ? at->get<std::string>() : "";
}

// What the API server answers about an object that was stored: ours, or the text that came.
Json Stored(const AnyObject& object, Json body) {
  if (const auto* tree = std::get_if<ObjectRef>(&object)) return ToJson(**tree);
  WriteServerMeta(Base(object), body);
  return body;
}

// What a delete options object says (meta/v1 DeleteOptions): it may name the uid that is meant.
Status CheckDelete(const ApiRequest& request, std::string_view kind, const ObjectBase& object) {
  Result<Json> options = ParseBody(request);
  if (!options.ok()) return std::move(options).status();
  for (const auto& [key, value] : options->items()) {
    const bool known = key == "kind" || key == "apiVersion" ||
                       (key == "preconditions" && value.is_object() && value.size() == 1);
    if (!known) return NotServed(request, "it does not know the option " + key);
  }
  const std::string uid = TextAt(*options, {"preconditions", "uid"});
  if (options->contains("preconditions") && uid != object.uid()) {
    return UidConflictError(ResourceOf(kind), object.name(), uid, object.uid());
  }
  return {};
}

bool IsTree(std::string_view kind) { return kind != kPodKind && kind != kNodeKind; }

}  // namespace

Result<std::string> EmbeddedApi::Serve(const ApiRequest& request) {
  const Result<ApiPath> path = ApiPath::Parse(request.path);
  if (!path.ok()) return path.status();
  const bool is_pod_status = path->Leads(kPodKind) && path->subresource == "status";
  if (!path->query.empty()) return NotServed(request, "it reads no query");
  if (!path->subresource.empty() && !(is_pod_status && request.verb == "PATCH")) {
    return NotServed(request, "it has no subresource " + path->subresource);
  }
  if (request.verb == "POST") {
    Result<Json> made = Create(*path, request);
    if (!made.ok()) return std::move(made).status();
    return made->dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const std::string kind = KindAt(*path);
  if (kind.empty()) return Status::NotFound("the server could not find the requested resource");
  const bool reads = request.verb == "GET" || (request.verb == "PATCH" && !is_pod_status);
  if (reads && !IsTree(kind)) return NotServed(request, "it keeps no text of pods and nodes");
  if (path->name.empty() && request.verb != "GET") {
    return NotServed(request, "it names no object");
  }
  Result<Json> answer = [&]() -> Result<Json> {
    if (is_pod_status) return PatchPodStatus(*path, request);
    if (request.verb == "GET") return path->name.empty() ? List(*path, kind) : Get(*path, kind);
    if (request.verb == "PATCH") return Patch(*path, kind, request);
    if (request.verb == "DELETE") return Delete(*path, kind, request);
    if (request.verb != "PUT") return NotServed(request, "it does not know the verb");
    Result<Json> body = ParseBody(request);
    return body.ok() ? Replace(*path, kind, *std::move(body)) : body;
  }();
  if (!answer.ok()) return std::move(answer).status();
  return answer->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string EmbeddedApi::KindAt(const ApiPath& path) const {
  for (const std::string& kind : cluster_.Kinds()) {
    if (path.Leads(kind)) return kind;
  }
  return "";
}

Result<AnyObject> EmbeddedApi::DecodeFor(const ApiPath& path, const Json& body) {
  const std::string kind = TextAt(body, {"apiVersion"}) + "/" + TextAt(body, {"kind"});
  if (!path.Leads(kind)) {
    return Status::InvalidArgument("the body is a " + kind + ", the path is one of " +
                                   path.group_version + " " + path.resource);
  }
  const std::string name = TextAt(body, {"metadata", "name"});
  if (!path.name.empty() && name != path.name) {
    return Status::InvalidArgument("the name of the object (" + name +
                                   ") does not match the name on the URL (" + path.name + ")");
  }
  const std::string ns = TextAt(body, {"metadata", "namespace"});
  if (!ns.empty() && !path.ns.empty() && ns != path.ns) {
    return Status::InvalidArgument("the namespace of the object (" + ns +
                                   ") does not match the namespace on the URL (" + path.ns + ")");
  }
  if (!ns.empty() || path.ns.empty()) return decoder_.Decode(body.dump());
  Json placed = body;
  placed["metadata"]["namespace"] = path.ns;
  return decoder_.Decode(placed.dump());
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
  if (!path.name.empty()) return NotServed(request, "objects are created in their collection");
  Result<Json> body = ParseBody(request);
  if (!body.ok()) return body;
  Result<AnyObject> object = DecodeFor(path, *body);
  if (!object.ok()) return std::move(object).status();
  Result<AnyObject> made = cluster_.Create(*std::move(object));
  if (!made.ok()) return std::move(made).status();
  return Stored(*made, *std::move(body));
}

Result<Json> EmbeddedApi::Replace(const ApiPath& path, const std::string& kind, Json body) {
  Result<AnyObject> object = DecodeFor(path, body);
  if (!object.ok()) return std::move(object).status();
  if (!cluster_.Find(kind, path.ns, path.name).has_value()) return NotFoundError(kind, path.name);
  Result<AnyObject> stored = cluster_.Update(*std::move(object));
  if (!stored.ok()) return std::move(stored).status();
  return Stored(*stored, std::move(body));
}

Result<Json> EmbeddedApi::Patch(const ApiPath& path, const std::string& kind,
                                const ApiRequest& request) {
  if (request.patch != PatchKind::kMerge) return NotServed(request, "it knows merge patches alone");
  Result<Json> patch = ParseBody(request);
  if (!patch.ok()) return patch;
  Result<Json> json = Get(path, kind);
  if (!json.ok()) return json;
  json->merge_patch(*patch);
  return Replace(path, kind, *std::move(json));
}

Result<Json> EmbeddedApi::PatchPodStatus(const ApiPath& path, const ApiRequest& request) {
  Result<Json> body = ParseBody(request);
  if (!body.ok()) return body;
  StatusPatch patch;
  Status status = patch.Read(*body, request.patch, cluster_.now_ns());
  if (!status.ok()) return status;
  status = cluster_.PatchStatus({path.ns, path.name, patch.uid()}, patch.patch());
  if (!status.ok()) return status;
  return MetadataOf(*cluster_.FindPod(path.ns, path.name));
}

Result<Json> EmbeddedApi::Delete(const ApiPath& path, const std::string& kind,
                                 const ApiRequest& request) {
  const auto object = cluster_.Find(kind, path.ns, path.name);
  if (!object.has_value()) return NotFoundError(kind, path.name);
  if (!request.body.empty()) {
    if (Status status = CheckDelete(request, kind, Base(*object)); !status.ok()) return status;
  }
  Status status = cluster_.Delete(kind, path.ns, path.name);
  if (!status.ok()) return status;
  const auto left = cluster_.Find(kind, path.ns, path.name);
  return MetadataOf(Base(left.has_value() ? *left : *object));
}

}  // namespace berth::host
