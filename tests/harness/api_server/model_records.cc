#include "tests/harness/api_server/model_records.h"

#include <utility>

#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/stored_objects.h"
#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "tests/harness/api_server/model_answers.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse MethodAnswer(const HttpRequest& request) {
  return StatusAnswer(405, "MethodNotAllowed",
                      "the model does not serve " + request.verb + " " + request.target);
}

std::string StringOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

ObjectReference ReferenceOf(const Json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_object()) return {};
  return {.api_version = StringOf(*found, "apiVersion"),
          .kind = StringOf(*found, "kind"),
          .ns = StringOf(*found, "namespace"),
          .name = StringOf(*found, "name"),
          .uid = StringOf(*found, "uid"),
          .resource_version = StringOf(*found, "resourceVersion")};
}

Event EventOf(const Json& json) {
  Event event{.type = StringOf(json, "type"),
              .reason = StringOf(json, "reason"),
              .action = StringOf(json, "action"),
              .note = StringOf(json, "note"),
              .regarding = ReferenceOf(json, "regarding"),
              .related = {},
              .reporting_controller = StringOf(json, "reportingController"),
              .reporting_instance = StringOf(json, "reportingInstance")};
  if (json.contains("related")) event.related = ReferenceOf(json, "related");
  const Result<int64_t> time = ParseTime(StringOf(json, "eventTime"));
  if (time.ok()) event.time_ns = *time;
  return event;
}

std::string NameIn(const Json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  return StringOf(*metadata, "name");
}

}  // namespace

// ---- Events -------------------------------------------------------------------------------------

HttpResponse ModelEvents::Serve(const HttpRequest& request, const ApiPath& path) {
  if (request.verb == "POST" && path.name.empty()) return Create(request, path);
  if (request.verb == "PATCH" && !path.name.empty()) return Patch(request, path);
  if (request.verb == "GET") return Read(path);
  return MethodAnswer(request);
}

HttpResponse ModelEvents::Create(const HttpRequest& request, const ApiPath& path) {
  Result<Json> body = ParseBody(request.body);
  if (!body.ok()) return ErrorAnswer(body.status(), path);
  const std::string name = NameIn(*body);
  if (name.empty()) {
    return ErrorAnswer(InvalidError(kKind, "", "metadata.name", "Required value"), path);
  }
  const std::string key = ObjectKey(path.ns, name);
  if (texts_.contains(key)) return ErrorAnswer(AlreadyExistsError(kKind, name), path);
  const auto status = AnswerNow<Status>(cluster_, [&](StatusCallback done) {
    cluster_.CreateEvent(EventOf(*body), std::move(done));
  });
  if (!status.ok()) return ErrorAnswer(status, path);
  (*body)["metadata"]["resourceVersion"] = std::to_string(cluster_.resource_version());
  return JsonAnswer(201, DumpJson(texts_[key] = *std::move(body)));
}

HttpResponse ModelEvents::Patch(const HttpRequest& request, const ApiPath& path) {
  const Result<Json> body = ParseBody(request.body);
  if (!body.ok()) return ErrorAnswer(body.status(), path);
  if (request.content_type != kMergePatch && request.content_type != kStrategicMergePatch) {
    return ErrorAnswer(MediaTypeError(kMergePatch), path);
  }
  const auto found = texts_.find(ObjectKey(path.ns, path.name));
  if (found == texts_.end()) return ErrorAnswer(NotFoundError(kKind, path.name), path);
  found->second.merge_patch(*body);
  return JsonAnswer(200, DumpJson(found->second));
}

HttpResponse ModelEvents::Read(const ApiPath& path) const {
  if (!path.name.empty()) {
    const auto found = texts_.find(ObjectKey(path.ns, path.name));
    if (found == texts_.end()) return ErrorAnswer(NotFoundError(kKind, path.name), path);
    return JsonAnswer(200, DumpJson(found->second));
  }
  Json items = Json::array();
  for (const auto& [key, text] : texts_) {
    if (path.ns.empty() || key.starts_with(path.ns + "/")) items.push_back(text);
  }
  return JsonAnswer(
      200, DumpJson(Json{
               {"kind", "EventList"},
               {"apiVersion", path.group_version},
               {"metadata", {{"resourceVersion", std::to_string(cluster_.resource_version())}}},
               {"items", std::move(items)}}));
}

// ---- Leases -------------------------------------------------------------------------------------

HttpResponse ModelLeases::Serve(const HttpRequest& request, const ApiPath& path) {
  const bool creates = request.verb == "POST" && path.name.empty();
  const bool updates = request.verb == "PUT" && !path.name.empty();
  if (request.verb == "GET" && !path.name.empty()) {
    const auto found = texts_.find(ObjectKey(path.ns, path.name));
    if (found == texts_.end()) return ErrorAnswer(NotFoundError(kKind, path.name), path);
    return JsonAnswer(200, DumpJson(found->second));
  }
  if (!creates && !updates) return MethodAnswer(request);
  Result<Json> body = ParseBody(request.body);
  if (!body.ok()) return ErrorAnswer(body.status(), path);
  if (!body->contains("metadata") || !(*body)["metadata"].is_object()) {
    return ErrorAnswer(InvalidError(kKind, "", "metadata.name", "Required value"), path);
  }
  // ReadLease() requires a resourceVersion, which a new lease does not have.
  Json read = *body;
  const bool has_version = read["metadata"].contains("resourceVersion");
  if (!has_version) read["metadata"]["resourceVersion"] = "none";
  Result<Lease> lease = ReadLease(DumpJson(read));
  if (!lease.ok()) {
    return ErrorAnswer(Status::InvalidArgument(std::string(lease.status().message())), path);
  }
  if (!has_version) lease->resource_version.clear();
  lease->ns = path.ns;
  StoredLeases& leases = cluster_.leases();
  const Result<Lease> stored = creates ? leases.Create(*lease) : leases.Update(*lease);
  if (!stored.ok()) return ErrorAnswer(stored.status(), path);
  (*body)["metadata"]["resourceVersion"] = stored->resource_version;
  (*body)["metadata"]["namespace"] = path.ns;
  Json& text = texts_[ObjectKey(path.ns, stored->name)] = *std::move(body);
  return JsonAnswer(creates ? 201 : 200, DumpJson(text));
}

}  // namespace berth::host
