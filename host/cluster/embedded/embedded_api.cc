#include "host/cluster/embedded/embedded_api.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/list_selection.h"
#include "host/cluster/embedded/object_patch.h"
#include "host/cluster/embedded/status_patch.h"
#include "host/cluster/embedded/whole_object.h"
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

// Pods and nodes are stored as views, and their texts only if a plugin needs them.
bool IsViewed(std::string_view kind) { return kind == kPodKind || kind == kNodeKind; }

// Returns the media type of the body without its parameters.
std::string MediaType(const ApiRequest& request) {
  std::string_view type = request.ContentType();
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return ToLower(type);
}

std::optional<PatchType> PatchTypeOf(std::string_view media_type) {
  if (media_type == kMergePatch) return PatchType::kMerge;
  if (media_type == kStrategicMergePatch) return PatchType::kStrategicMerge;
  return media_type == kJsonPatch ? std::optional(PatchType::kJson) : std::nullopt;
}

// Returns an error if the body has a media type that the request does not accept.
Status CheckMediaType(const ApiRequest& request, std::string_view kind) {
  const std::string type = MediaType(request);
  if (request.verb != "PATCH") {
    return request.body.empty() || type == kJson ? Status() : MediaTypeError(kJson);
  }
  const std::optional<PatchType> patch = PatchTypeOf(type);
  if (patch.has_value() && (IsViewed(kind) || patch != PatchType::kStrategicMerge)) return {};
  std::string accepted(kJsonPatch);
  accepted.append(", ").append(kMergePatch);
  if (IsViewed(kind)) accepted.append(", ").append(kStrategicMergePatch);
  return MediaTypeError(accepted);
}

// ---- One request --------------------------------------------------------------------------------

class ApiCall {
 public:
  ApiCall(EmbeddedCluster& cluster, Decoder& decoder, const ApiRequest& request,
          const ApiPath& path)
      : cluster_(cluster),
        decoder_(decoder),
        request_(request),
        path_(path),
        kind_(KindAt(path)),
        selection_(kind_) {}

  Result<Json> Answer() {
    if (kind_.empty() && request_.verb != "POST") return NoResourceError();
    if (path_.IsPathOf(kNodeKind) && !path_.ns.empty()) return NoResourceError();
    const bool is_status = IsStatus();
    if (!path_.subresource.empty() && !is_status) {
      return Status::NotFound(
          NotServedText("the subresource " + path_.subresource + " is not supported"));
    }
    if (is_status && request_.verb != "PATCH" && request_.verb != "GET") {
      return NotServed("the verb is not supported");
    }
    if (Status status = ReadQuery(); !status.ok()) return status;
    if (Status status = CheckMediaType(request_, kind_); !status.ok()) return status;
    return Dispatch();
  }

 private:
  std::string NotServedText(const std::string& why) const {
    return "the embedded cluster does not serve " + request_.verb + " " + request_.path + ": " +
           why;
  }
  Status NotServed(const std::string& why) const { return Status::Unsupported(NotServedText(why)); }
  Status NoText() const {
    const std::string type = kind_ == kPodKind ? "Pod" : "Node";
    return NotServed("the cluster keeps the text of a " + ToLower(type) +
                     " only if a plugin lists \"" + type + ":\" in its fields");
  }
  bool IsStatus() const { return path_.subresource == "status" && IsViewed(kind_); }

  // Returns the kind whose resource the path names; empty if the cluster does not have the kind.
  std::string KindAt(const ApiPath& path) const {
    for (const std::string& kind : cluster_.Kinds()) {
      if (path.IsPathOf(kind)) return kind;
    }
    return "";
  }

  std::optional<AnyObject> Find() const { return cluster_.Find(kind_, path_.ns, path_.name); }

  Status ReadQuery() {
    constexpr std::string_view kIgnored[] = {"fieldManager", "limit", "pretty", "timeout"};
    const bool is_list = request_.verb == "GET" && path_.name.empty();
    std::string_view query = path_.query;
    while (!query.empty()) {
      const std::string_view one = query.substr(0, query.find('&'));
      query.remove_prefix(std::min(query.size(), one.size() + 1));
      const std::string_view key = one.substr(0, one.find('='));
      if (std::ranges::find(kIgnored, key) != std::end(kIgnored)) continue;
      const bool is_labels = key == "labelSelector";
      if (!is_list || (!is_labels && key != "fieldSelector")) {
        return NotServed("the query parameter " + std::string(key) + " is not supported");
      }
      std::string coded(one.substr(std::min(one.size(), key.size() + 1)));
      std::ranges::replace(coded, '+', ' ');
      const std::optional<std::string> text = DecodePercent(coded);
      if (!text.has_value()) {
        return Status::InvalidArgument("the query parameter " + std::string(key) +
                                       ": expected two hexadecimal digits after %");
      }
      Status status =
          is_labels ? selection_.AddLabels(*text, decoder_) : selection_.AddFields(*text);
      if (!status.ok()) return status;
    }
    return {};
  }

  Result<Json> Dispatch() {
    const std::string& verb = request_.verb;
    if (verb == "POST") return Create();
    if (verb == "GET") return path_.name.empty() ? List() : Get();
    if (path_.name.empty()) return NotServed("the path has no object name");
    if (verb == "PATCH") return IsViewed(kind_) ? PatchViewed() : Patch();
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

  // Returns the JSON of a stored object.
  Result<Json> JsonOf(const AnyObject& object) const {
    if (const auto* tree = std::get_if<ObjectRef>(&object)) return ToJson(**tree);
    const ObjectBase& base = Base(object);
    if (KeptText(base.meta()).empty()) return NoText();
    return WholeObject(object, cluster_.PodScheduledMessage(base.ns(), base.name()));
  }

  Result<Json> Get() const {
    const auto object = Find();
    if (!object.has_value()) return NotFoundError(kind_, path_.name);
    return JsonOf(*object);
  }

  Result<Json> List() {
    const DecodeOptions& options = decoder_.options();
    const bool has_text = kind_ == kPodKind ? options.keep_pod_text : options.keep_node_text;
    if (IsViewed(kind_) && !has_text) return NoText();
    Json items = Json::array();
    for (const AnyObject& object : cluster_.List(kind_)) {
      if (!path_.ns.empty() && Base(object).ns() != path_.ns) continue;
      if (!selection_.Contains(object)) continue;
      Result<Json> item = JsonOf(object);
      if (!item.ok()) return item;
      items.push_back(*std::move(item));
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

  PatchType RequestedPatch() const { return *PatchTypeOf(MediaType(request_)); }

  Result<Json> Patch() {
    Result<Json> json = Get();
    if (!json.ok()) return json;
    json = ApplyPatch(RequestedPatch(), kind_, *std::move(json), request_.body);
    return json.ok() ? Replace(*std::move(json)) : json;
  }

  // Patches a pod or node, or its status. As in an API server, a patch that changes nothing keeps
  // the resourceVersion.
  Result<Json> PatchViewed() {
    const auto object = Find();
    if (!object.has_value()) return NotFoundError(kind_, path_.name);
    const bool has_text = !KeptText(Base(*object).meta()).empty();
    if (!has_text && kind_ == kPodKind && IsStatus() && RequestedPatch() != PatchType::kJson) {
      return PatchPodStatus();
    }
    const Result<Json> before = JsonOf(*object);
    if (!before.ok()) return before;
    Result<Json> after = ApplyPatch(RequestedPatch(), kind_, *before, request_.body);
    if (!after.ok()) return after;
    if (Status status = PrepareUpdate(kind_, IsStatus(), *before, *after); !status.ok()) {
      return status;
    }
    if (AreEqual(*before, *after)) return before;
    Result<AnyObject> decoded = decoder_.Decode(DumpJson(*after));
    if (!decoded.ok()) {
      const Status& error = decoded.status();
      if (error.code() == ErrorCode::kOutOfRange) return error;
      return InvalidError(kind_, path_.name, "patch",
                          "Invalid value: " + std::string(error.message()));
    }
    Result<AnyObject> stored = cluster_.Update(*std::move(decoded), PodScheduledMessageIn(*after));
    if (!stored.ok()) return std::move(stored).status();
    return JsonOf(*stored);
  }

  Result<Json> PatchPodStatus() {
    Result<Json> body = ParseBody(request_.body);
    if (!body.ok()) return body;
    const bool is_strategic = RequestedPatch() == PatchType::kStrategicMerge;
    StatusPatch patch(is_strategic, cluster_.clock().NowNs());
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
  ListSelection selection_;
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
