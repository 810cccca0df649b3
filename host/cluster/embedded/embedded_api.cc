#include "host/cluster/embedded/embedded_api.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// `what`: such as "an object".
Status Expected(const std::string& field, const char* what, const Json& found) {
  return Status::InvalidArgument(field + ": expected " + what + ", found " + QuotedJson(found));
}

// Returns the response for a stored object: its JSON text, or for a pod or node the received body
// with the fields that the server sets.
Json ResponseFor(const AnyObject& object, Json body) {
  if (const auto* tree = std::get_if<ObjectRef>(&object)) return ToJson(**tree);
  WriteServerMeta(Base(object), body);
  return body;
}

bool HasJsonText(std::string_view kind) { return kind != kPodKind && kind != kNodeKind; }

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

// ---- The patch of a pod's status ----------------------------------------------------------------

uint32_t ConditionStatus(std::string_view text) {
  if (text == "True") return BERTH_CONDITION_TRUE;
  if (text == "False") return BERTH_CONDITION_FALSE;
  return text == "Unknown" ? uint32_t{BERTH_CONDITION_UNKNOWN} : 0;
}

Status UnsupportedField(const std::string& field) {
  return Status::Unsupported("the embedded cluster does not patch " + field);
}

// Must not: be moved or copied, because patch() points into this object.
class StatusPatch {
 public:
  // `now_ns` is the time of conditions without a lastTransitionTime. A merge patch, which is not
  // strategic, cannot change single conditions, so they are unsupported in it.
  StatusPatch(bool is_strategic, int64_t now_ns) : is_strategic_(is_strategic), now_ns_(now_ns) {}
  StatusPatch(const StatusPatch&) = delete;
  StatusPatch& operator=(const StatusPatch&) = delete;

  // Decodes a patch, which is an object.
  // Errors: InvalidArgument for a malformed patch; Unsupported for fields that the cluster does not
  //         store: in the status, all except nominatedNodeName and the conditions PodScheduled and
  //         DisruptionTarget.
  Status Read(const Json& json) {
    for (const auto& [key, value] : json.items()) {
      if (key == "status") {
        if (Status status = ReadStatus(value); !status.ok()) return status;
      } else if (key == "metadata") {
        if (!value.is_object()) return Expected("/metadata", "an object", value);
        for (const auto& [name, text] : value.items()) {
          if (name != "uid") return UnsupportedField("/metadata/" + name);
          if (!text.is_string()) return Expected("/metadata/uid", "a string", text);
          uid_ = text;
        }
      } else if (key != "kind" && key != "apiVersion") {
        return UnsupportedField("/" + key);
      }
    }
    return {};
  }

  const PodStatusPatch& patch() const { return patch_; }
  // Returns the uid that the pod must have; empty if any uid is accepted.
  const std::string& uid() const { return uid_; }

 private:
  Status ReadStatus(const Json& status) {
    if (!status.is_object()) return Expected("/status", "an object", status);
    for (const auto& [key, value] : status.items()) {
      if (key == "nominatedNodeName") {
        if (!value.is_null() && !value.is_string()) {
          return Expected("/status/nominatedNodeName", "a string", value);
        }
        patch_.nominated_node = Keep(value.is_null() ? "" : value.get<std::string>());
      } else if (key == "conditions" && is_strategic_ && value.is_array()) {
        for (const Json& condition : value) {
          if (Status read = ReadCondition(condition); !read.ok()) return read;
        }
      } else if (!key.starts_with("$setElementOrder/")) {  // It only orders list elements.
        return UnsupportedField("/status/" + key);
      }
    }
    return {};
  }

  Status ReadCondition(const Json& json) {
    // lastProbeTime and observedGeneration are accepted and ignored.
    constexpr std::string_view kFields[] = {"type",
                                            "status",
                                            "reason",
                                            "message",
                                            "lastProbeTime",
                                            "lastTransitionTime",
                                            "observedGeneration"};
    const std::string place = "/status/conditions";
    if (!json.is_object()) return Expected(place, "an object", json);
    for (const auto& [key, value] : json.items()) {
      const std::string path = std::string(place).append(1, '/').append(key);
      if (std::ranges::find(kFields, key) == std::end(kFields)) return UnsupportedField(path);
      const bool is_text = value.is_string() || value.is_null();
      if (!is_text && key != "observedGeneration") return Expected(path, "a string", value);
    }
    const std::string type = TextMember(json, "type");
    auto* into = type == "PodScheduled"       ? &patch_.pod_scheduled
                 : type == "DisruptionTarget" ? &patch_.disruption_target
                                              : nullptr;
    if (into == nullptr) return UnsupportedField(place + " of type \"" + type + "\"");
    PodStatusPatch::Condition condition;
    const std::string status = TextMember(json, "status");
    condition.status = ConditionStatus(status);
    if (condition.status == 0) {
      return Status::InvalidArgument(place + "/status: expected True, False or Unknown, found \"" +
                                     status + "\"");
    }
    condition.reason = Keep(TextMember(json, "reason"));
    condition.message = Keep(TextMember(json, "message"));
    condition.transition_ns = now_ns_;
    if (const std::string time = TextMember(json, "lastTransitionTime"); !time.empty()) {
      const Result<int64_t> parsed = ParseTime(time);
      if (!parsed.ok()) return parsed.status().Annotate(place + "/lastTransitionTime");
      condition.transition_ns = *parsed;
    }
    *into = condition;
    return {};
  }

  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  const bool is_strategic_;
  const int64_t now_ns_;
  PodStatusPatch patch_{};
  std::string uid_;
  std::deque<std::string> texts_;
};

// ---- One request --------------------------------------------------------------------------------

class ApiCall {
 public:
  ApiCall(EmbeddedCluster& cluster, Decoder& decoder, const ApiRequest& request,
          const ApiPath& path)
      : cluster_(cluster), decoder_(decoder), request_(request), path_(path), kind_(KindAt(path)) {}

  Result<Json> Answer() {
    if (kind_.empty() && request_.verb != "POST") return NoResourceError();
    if (path_.IsPathOf(kNodeKind) && !path_.ns.empty()) return NoResourceError();
    const bool is_status = path_.subresource == "status" && path_.IsPathOf(kPodKind);
    if (!path_.subresource.empty() && !is_status) {
      return Status::NotFound(
          NotServedText("the subresource " + path_.subresource + " is not supported"));
    }
    if (is_status && request_.verb != "PATCH") return NoText();
    if (Status status = CheckQuery(); !status.ok()) return status;
    if (Status status = CheckMediaType(request_, is_status); !status.ok()) return status;
    return is_status ? PatchPodStatus() : Dispatch();
  }

 private:
  std::string NotServedText(const std::string& why) const {
    return "the embedded cluster does not serve " + request_.verb + " " + request_.path + ": " +
           why;
  }
  Status NotServed(const std::string& why) const { return Status::Unsupported(NotServedText(why)); }
  Status NoText() const { return NotServed("the text of pods and nodes is not stored"); }

  // Returns the kind whose resource the path names; empty if the cluster does not have the kind.
  std::string KindAt(const ApiPath& path) const {
    for (const std::string& kind : cluster_.Kinds()) {
      if (path.IsPathOf(kind)) return kind;
    }
    return "";
  }

  std::optional<AnyObject> Find() const { return cluster_.Find(kind_, path_.ns, path_.name); }

  Status CheckQuery() const {
    constexpr std::string_view kIgnored[] = {"fieldManager", "limit", "pretty", "timeout"};
    std::string_view query = path_.query;
    while (!query.empty()) {
      const std::string_view one = query.substr(0, query.find('&'));
      query.remove_prefix(std::min(query.size(), one.size() + 1));
      const std::string_view key = one.substr(0, one.find('='));
      if (std::ranges::find(kIgnored, key) == std::end(kIgnored)) {
        return NotServed("the query parameter " + std::string(key) + " is not supported");
      }
    }
    return {};
  }

  Result<Json> Dispatch() {
    const std::string& verb = request_.verb;
    if (verb == "POST") return Create();
    if ((verb == "GET" || verb == "PATCH") && !HasJsonText(kind_)) return NoText();
    if (verb == "GET") return path_.name.empty() ? List() : Get();
    if (path_.name.empty()) return NotServed("the path has no object name");
    if (verb == "PATCH") return Patch();
    if (verb == "DELETE") return Delete();
    if (verb != "PUT") return NotServed("the verb is not supported");
    Result<Json> body = ParseBody(request_.body);
    return body.ok() ? Replace(*std::move(body)) : body;
  }

  // Decodes the body as an object, and checks that it belongs to the path.
  Result<AnyObject> DecodeFor(Json body) {
    const std::string kind = TextMember(body, "apiVersion") + "/" + TextMember(body, "kind");
    if (!path_.IsPathOf(kind)) {
      return Status::InvalidArgument("the kind of the body (" + kind +
                                     ") does not match the path (" + path_.group_version + " " +
                                     path_.resource + ")");
    }
    Json& metadata = body["metadata"];
    if (metadata.is_null()) metadata = Json::object();
    if (!metadata.is_object()) return Expected("/metadata", "an object", metadata);
    const std::string name = TextMember(metadata, "name");
    if (!path_.name.empty() && name != path_.name) {
      return Status::InvalidArgument("the name of the object (" + name +
                                     ") does not match the name on the URL (" + path_.name + ")");
    }
    const std::string ns = TextMember(metadata, "namespace");
    if (!ns.empty() && !path_.ns.empty() && ns != path_.ns) {
      return Status::InvalidArgument("the namespace of the object (" + ns +
                                     ") does not match the namespace on the URL (" + path_.ns +
                                     ")");
    }
    if (!path_.ns.empty()) {
      Json& place = metadata["namespace"];
      if (place.is_null() || place.is_string()) place = path_.ns;
    }
    return decoder_.Decode(DumpJson(body));
  }

  Result<Json> Get() {
    const auto object = Find();
    if (!object.has_value()) return NotFoundError(kind_, path_.name);
    return ToJson(*std::get<ObjectRef>(*object));
  }

  Result<Json> List() {
    Json items = Json::array();
    for (const AnyObject& object : cluster_.List(kind_)) {
      if (!path_.ns.empty() && Base(object).ns() != path_.ns) continue;
      items.push_back(ToJson(*std::get<ObjectRef>(object)));
    }
    return Json{{"kind", kind_.substr(kind_.rfind('/') + 1) + "List"},
                {"apiVersion", path_.group_version},
                {"metadata", {{"resourceVersion", std::to_string(cluster_.resource_version())}}},
                {"items", std::move(items)}};
  }

  Result<Json> Create() {
    if (!path_.name.empty()) {
      return NotServed("an object is created with the path of its collection");
    }
    if (path_.IsPathOf(kPodKind) && path_.ns.empty()) {
      return NotServed("a pod is created with the path of its namespace");
    }
    Result<Json> body = ParseBody(request_.body);
    if (!body.ok()) return body;
    Result<AnyObject> object = DecodeFor(*body);
    if (!object.ok()) return std::move(object).status();
    Result<AnyObject> made = cluster_.Create(*std::move(object));
    if (!made.ok()) return std::move(made).status();
    return ResponseFor(*made, *std::move(body));
  }

  Result<Json> Replace(Json body) {
    Result<AnyObject> object = DecodeFor(body);
    if (!object.ok()) return std::move(object).status();
    if (!Find().has_value()) return NotFoundError(kind_, path_.name);
    Result<AnyObject> stored = cluster_.Update(*std::move(object));
    if (!stored.ok()) return std::move(stored).status();
    return ResponseFor(*stored, std::move(body));
  }

  Result<Json> Patch() {
    Result<Json> patch = ParseBody(request_.body);
    if (!patch.ok()) return patch;
    Result<Json> json = Get();
    if (!json.ok()) return json;
    json->merge_patch(*patch);
    return Replace(*std::move(json));
  }

  Result<Json> PatchPodStatus() {
    Result<Json> body = ParseBody(request_.body);
    if (!body.ok()) return body;
    StatusPatch patch(MediaType(request_) != kMergePatch, cluster_.clock().NowNs());
    if (Status status = patch.Read(*body); !status.ok()) return status;
    Status status = cluster_.PatchStatus({path_.ns, path_.name, patch.uid()}, patch.patch());
    if (!status.ok()) return status;
    return MetadataOf(*cluster_.FindPod(path_.ns, path_.name));
  }

  Result<Json> Delete() {
    const auto object = Find();
    if (!object.has_value()) return NotFoundError(kind_, path_.name);
    const auto grace_seconds = ReadDeleteOptions(Base(*object));
    if (!grace_seconds.ok()) return grace_seconds.status();
    if (kind_ == kPodKind && grace_seconds->has_value()) {
      cluster_.DeletePod({path_.ns, path_.name, {}}, *grace_seconds, nullptr);
    } else if (Status status = cluster_.Delete(kind_, path_.ns, path_.name); !status.ok()) {
      return status;
    }
    const auto left = Find();
    return MetadataOf(Base(left.has_value() ? *left : *object));
  }

  // Returns the grace period of the delete options (meta/v1 DeleteOptions); nullopt if the object's
  // own grace period applies. Returns an error if the object must not be deleted.
  Result<std::optional<int64_t>> ReadDeleteOptions(const ObjectBase& object) const {
    std::optional<int64_t> grace_seconds;
    if (request_.body.empty()) return grace_seconds;
    const Result<Json> options = ParseBody(request_.body);
    if (!options.ok()) return options.status();
    for (const auto& [key, value] : options->items()) {
      if (value.is_null() || key == "kind" || key == "apiVersion") continue;
      if (key == "preconditions") {
        if (Status status = CheckPreconditions(value, object); !status.ok()) return status;
      } else if (key == "gracePeriodSeconds") {
        if (!value.is_number_integer()) {
          return Expected("/gracePeriodSeconds", "a whole number", value);
        }
        constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
        const bool is_beyond =
            value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{kMost};
        grace_seconds = is_beyond ? kMost : value.get<int64_t>();
      } else {
        return NotServed("the option " + key + " is not supported");
      }
    }
    return grace_seconds;
  }

  // Checks the preconditions of a deletion. apiserver: storage/interfaces.go, Preconditions.Check.
  Status CheckPreconditions(const Json& preconditions, const ObjectBase& object) const {
    if (!preconditions.is_object()) return Expected("/preconditions", "an object", preconditions);
    const std::string resource = ResourceOf(kind_);
    for (const auto& [key, value] : preconditions.items()) {
      if (key != "uid" && key != "resourceVersion") {
        return NotServed("the precondition " + key + " is not supported");
      }
      if (value.is_null()) continue;
      if (!value.is_string()) return Expected("/preconditions/" + key, "a string", value);
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

  EmbeddedCluster& cluster_;
  Decoder& decoder_;
  const ApiRequest& request_;
  const ApiPath& path_;
  const std::string kind_;
};

}  // namespace

ApiResponse EmbeddedApi::Serve(const ApiRequest& request) {
  const Result<ApiPath> path = ApiPath::Parse(request.path);
  const Result<Json> answer =
      path.ok() ? ApiCall(cluster_, decoder_, request, *path).Answer() : path.status();
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

}  // namespace berth::host
