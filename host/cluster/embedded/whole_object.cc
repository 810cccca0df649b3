#include "host/cluster/embedded/whole_object.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// ---- The JSON of an object ----------------------------------------------------------------------

// Returns the member, which becomes an object if it is none.
Json& ObjectAt(Json& parent, const char* key) {
  Json& member = parent[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

// Sets a text, or removes the member if the text is empty.
void SetText(Json& parent, const char* key, std::string_view text) {
  if (text.empty()) {
    parent.erase(key);
  } else {
    parent[key] = std::string(text);
  }
}

std::string_view StatusText(uint32_t status) {
  switch (status) {
    case BERTH_CONDITION_TRUE: return "True";
    case BERTH_CONDITION_FALSE: return "False";
    case BERTH_CONDITION_UNKNOWN: return "Unknown";
    default: return "";
  }
}

// Returns the element of the list with this type; null if there is none.
Json* FindCondition(Json& conditions, std::string_view type) {
  for (Json& condition : conditions) {
    if (condition.is_object() && TextMember(condition, "type") == type) return &condition;
  }
  return nullptr;
}

std::string TimeText(int64_t time_ns) {  // metav1.Time has whole seconds.
  return time_ns == 0 ? std::string() : FormatTime(time_ns / kSecond * kSecond);
}

// Writes the state of a condition in the view. `message` is empty if it is not known. The text of a
// condition that did not change stays.
void WriteCondition(const Pod& pod, const berth_condition& from, std::string_view message,
                    Json& conditions) {
  const std::string_view type = pod.Name(from.type);
  Json* to = FindCondition(conditions, type);
  if (to == nullptr) to = &conditions.emplace_back(Json{{"type", std::string(type)}});
  const Result<int64_t> time = ParseTime(TextMember(*to, "lastTransitionTime"));
  const bool is_changed = TextMember(*to, "status") != StatusText(from.status) ||
                          TextMember(*to, "reason") != pod.Name(from.reason) ||
                          (time.ok() ? *time : 0) != from.transition_ns;
  if (is_changed) {
    SetText(*to, "status", StatusText(from.status));
    SetText(*to, "lastTransitionTime", TimeText(from.transition_ns));
    SetText(*to, "reason", pod.Name(from.reason));
  }
  if (is_changed || !message.empty()) SetText(*to, "message", message);
}

void WritePod(const Pod& pod, std::string_view scheduled_message, Json& json) {
  if (!pod.node_name().empty()) ObjectAt(json, "spec")["nodeName"] = std::string(pod.node_name());
  const auto conditions = Elements<berth_condition>(pod.view().conditions);
  if (pod.nominated_node().empty() && conditions.empty() && !json.contains("status")) return;
  Json& status = ObjectAt(json, "status");
  SetText(status, "nominatedNodeName", pod.nominated_node());
  if (conditions.empty()) return;
  Json& list = status["conditions"];
  if (!list.is_array()) list = Json::array();
  for (const berth_condition& condition : conditions) {
    const bool is_scheduled = pod.Name(condition.type) == "PodScheduled";
    WriteCondition(pod, condition, is_scheduled ? scheduled_message : std::string_view(), list);
  }
}

// ---- Metadata -----------------------------------------------------------------------------------

// apimachinery: api/validation/objectmeta.go, TotalAnnotationSizeLimitB.
constexpr size_t kMaxAnnotationBytes = size_t{256} << 10;

// Returns the value at the member, or null if there is none.
Json MemberOf(const Json& parent, const char* key) {
  const auto found = parent.find(key);
  return found == parent.end() ? Json() : *found;
}

// Gives `after` the member of `before`, which it may lack.
void Restore(const Json& before, Json& after, const char* key) {
  const auto found = before.find(key);
  if (found == before.end()) {
    after.erase(key);
  } else {
    after[key] = *found;
  }
}

class UpdateCheck {
 public:
  UpdateCheck(std::string_view kind, const Json& before, Json& after)
      : kind_(kind),
        before_(before),
        after_(after),
        name_(TextMember(before["metadata"], "name")) {}

  Status Metadata(bool is_status);
  Status PodSpec();
  Status NodeSpec();

 private:
  Status Invalid(const std::string& field, const std::string& why) const {
    return InvalidError(kind_, name_, field, why);
  }
  Status Immutable(const char* key, const Json& value) const {
    return Invalid(std::string("metadata.") + key,
                   "Invalid value: " + QuotedJson(value) + ": field is immutable");
  }
  Status Identity(const Json& old, Json& metadata) const;
  Status Annotations(const Json& metadata) const;
  Status Tolerations(const Json& old, const Json& spec) const;
  Status SchedulingGates(const Json& old, const Json& spec) const;
  Status ActiveDeadline(const Json& old, const Json& spec) const;
  Status Containers(const char* list, const Json& old, Json& spec) const;

  const std::string_view kind_;
  const Json& before_;
  Json& after_;
  const std::string name_;
};

Status UpdateCheck::Identity(const Json& old, Json& metadata) const {
  for (const char* key : {"kind", "apiVersion"}) {
    if (!after_.contains(key)) after_[key] = before_[key];
    if (after_[key] == before_[key]) continue;
    return Status::InvalidArgument(std::string("/") + key + ": expected " +
                                   QuotedJson(before_[key]) + ", found " + QuotedJson(after_[key]));
  }
  const std::string name = TextMember(metadata, "name");
  if (name != name_) {
    return Status::InvalidArgument("the name of the object (" + name +
                                   ") does not match the name on the URL (" + name_ + ")");
  }
  const Json ns = MemberOf(metadata, "namespace");
  if (!ns.is_null() && ns != "" && kind_ == kPodKind && ns != MemberOf(old, "namespace")) {
    return Status::InvalidArgument(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  Restore(old, metadata, "namespace");
  const Json version = MemberOf(metadata, "resourceVersion");
  const bool is_any = version.is_null() || version == "";
  if (!is_any && version != old["resourceVersion"]) return StaleError(kind_, name_);
  metadata["resourceVersion"] = old["resourceVersion"];
  return {};
}

Status UpdateCheck::Annotations(const Json& metadata) const {
  size_t bytes = 0;
  const Json annotations = MemberOf(metadata, "annotations");
  for (const auto& [key, value] : annotations.items()) {
    bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  if (bytes <= kMaxAnnotationBytes) return {};
  return Invalid("metadata.annotations", "Too long: may not be more than " +
                                             std::to_string(kMaxAnnotationBytes) + " bytes");
}

Status UpdateCheck::Metadata(bool is_status) {
  const Json& old = before_["metadata"];
  Json& metadata = ObjectAt(after_, "metadata");
  if (Status status = Identity(old, metadata); !status.ok()) return status;
  const Json uid = MemberOf(metadata, "uid");
  if (!uid.is_null() && uid != "" && uid != old["uid"]) return Immutable("uid", uid);
  for (const char* key : {"uid", "creationTimestamp", "generation"}) Restore(old, metadata, key);
  metadata.erase("managedFields");
  for (const char* key : {"deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Json value = MemberOf(metadata, key);
    if (!old.contains(key) && !value.is_null() && !is_status) return Immutable(key, value);
    Restore(old, metadata, key);
  }
  if (is_status && kind_ == kPodKind) Restore(old, metadata, "ownerReferences");
  Restore(before_, after_, is_status ? "spec" : "status");
  return Annotations(metadata);
}

// ---- Specs --------------------------------------------------------------------------------------

Status UpdateCheck::Tolerations(const Json& old, const Json& spec) const {
  const auto without_seconds = [](Json toleration) {
    if (toleration.is_object()) toleration.erase("tolerationSeconds");
    return nlohmann::json(toleration);
  };
  std::vector<nlohmann::json> all;
  for (const Json& one : MemberOf(spec, "tolerations")) all.push_back(without_seconds(one));
  for (const Json& one : MemberOf(old, "tolerations")) {
    if (std::ranges::find(all, without_seconds(one)) != all.end()) continue;
    return Invalid("spec.tolerations",
                   "Forbidden: existing toleration can not be modified except its "
                   "tolerationSeconds");
  }
  return {};
}

Status UpdateCheck::SchedulingGates(const Json& old, const Json& spec) const {
  const Json gates = MemberOf(spec, "schedulingGates");
  const Json old_gates = MemberOf(old, "schedulingGates");
  for (size_t i = 0; i < gates.size() && gates.is_array(); ++i) {
    if (std::ranges::find(old_gates, gates[i]) != old_gates.end()) continue;
    return Invalid("spec.schedulingGates[" + std::to_string(i) + "].name",
                   "Forbidden: only deletion is allowed, but found new scheduling gate " +
                       QuotedJson(gates[i]));
  }
  return {};
}

Status UpdateCheck::ActiveDeadline(const Json& old, const Json& spec) const {
  constexpr const char* kField = "spec.activeDeadlineSeconds";
  const Json was = MemberOf(old, "activeDeadlineSeconds");
  const Json is = MemberOf(spec, "activeDeadlineSeconds");
  if (is.is_null()) {
    if (was.is_null()) return {};
    return Invalid(kField,
                   "Invalid value: null: must not update from a positive integer to nil value");
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (!is.is_number_integer() || is < 0 || is > kMost) {
    return Invalid(kField, "Invalid value: " + QuotedJson(is) +
                               ": must be between 0 and 2147483647, inclusive");
  }
  if (was.is_number_integer() && was < is) {
    return Invalid(kField, "Invalid value: " + QuotedJson(is) +
                               ": must be less than or equal to previous value");
  }
  return {};
}

// Checks a list of containers, and then gives `spec` the images of `old`.
Status UpdateCheck::Containers(const char* list, const Json& old, Json& spec) const {
  const Json was = MemberOf(old, list);
  const Json is = MemberOf(spec, list);
  if (was.size() != is.size()) {
    return Invalid(std::string("spec.") + list,
                   "Forbidden: pod updates may not add or remove containers");
  }
  if (!is.is_array() || !was.is_array()) return {};
  for (size_t i = 0; i < is.size(); ++i) {
    if (is[i].is_object() && was[i].is_object()) Restore(was[i], spec[list][i], "image");
  }
  return {};
}

// Returns the value without members that are null or empty lists, which mean the same as none.
Json WithoutEmpty(const Json& value) {
  if (!value.is_structured()) return value;
  Json kept = value.is_object() ? Json::object() : Json::array();
  for (const auto& [key, member] : value.items()) {
    if (value.is_array()) {
      kept.push_back(WithoutEmpty(member));
    } else if (!member.is_null() && !(member.is_array() && member.empty())) {
      kept[key] = WithoutEmpty(member);
    }
  }
  return kept;
}

// kube-apiserver: apis/core/validation/validation.go, ValidatePodUpdate.
Status UpdateCheck::PodSpec() {
  const Json old = MemberOf(before_, "spec");
  Json spec = MemberOf(after_, "spec");
  if (!spec.is_object()) spec = Json::object();
  const bool is_changed = !AreEqual(WithoutEmpty(old), WithoutEmpty(spec));
  if (!is_changed) return {};
  for (const char* list : {"containers", "initContainers"}) {
    if (Status status = Containers(list, old, spec); !status.ok()) return status;
  }
  for (auto check :
       {&UpdateCheck::ActiveDeadline, &UpdateCheck::Tolerations, &UpdateCheck::SchedulingGates}) {
    if (Status status = (this->*check)(old, spec); !status.ok()) return status;
  }
  const Json grace = MemberOf(old, "terminationGracePeriodSeconds");
  if (grace.is_number_integer() && grace < 0 &&
      MemberOf(spec, "terminationGracePeriodSeconds") == 1) {
    Restore(old, spec, "terminationGracePeriodSeconds");
  }
  if (!MemberOf(old, "schedulingGates").empty()) {
    const Json selector = MemberOf(spec, "nodeSelector");
    const Json old_selector = MemberOf(old, "nodeSelector");
    for (const auto& [key, value] : old_selector.items()) {
      if (MemberOf(selector, key.c_str()) == value) continue;
      return Invalid("spec.nodeSelector",
                     "Invalid value: " + QuotedJson(selector) +
                         ": only additions to spec.nodeSelector are allowed (no mutations or "
                         "deletions)");
    }
    Restore(old, spec, "nodeSelector");
  }
  for (const char* key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    Restore(old, spec, key);
  }
  if (!AreEqual(WithoutEmpty(old), WithoutEmpty(spec))) {
    return Invalid("spec",
                   "Forbidden: pod updates may not change fields other than "
                   "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                   "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
                   "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "
                   "it was previously negative)");
  }
  Json& metadata = after_["metadata"];
  const Json generation = MemberOf(metadata, "generation");
  if (generation.is_number_integer()) metadata["generation"] = generation.get<int64_t>() + 1;
  return {};
}

// kube-apiserver: apis/core/validation/validation.go, ValidateNodeUpdate.
Status UpdateCheck::NodeSpec() {
  const Json old = MemberOf(before_, "spec");
  const Json spec = MemberOf(after_, "spec");
  const Json cidrs = MemberOf(old, "podCIDRs");
  if (!cidrs.empty() && cidrs != MemberOf(spec, "podCIDRs")) {
    return Invalid("spec.podCIDRs",
                   "Forbidden: node updates may not change podCIDR except from \"\" to valid");
  }
  const std::string provider = TextMember(old, "providerID");
  if (!provider.empty() && provider != TextMember(spec, "providerID")) {
    return Invalid("spec.providerID",
                   "Forbidden: node updates may not change providerID except from \"\" to valid");
  }
  return {};
}

}  // namespace

Result<Json> WholeObject(const AnyObject& object, std::string_view scheduled_message) {
  const ObjectBase& base = Base(object);
  const std::string_view text = KeptText(base.meta());
  const std::string_view kind = KindOf(object);
  Result<Json> json = ParseBody(text, std::numeric_limits<size_t>::max());
  if (!json.ok()) {
    return Status::Internal("the text of " + std::string(kind) + " " + base.Key() +
                            " cannot be read: " + std::string(json.status().message()));
  }
  if (!json->contains("kind")) (*json)["kind"] = kind == kPodKind ? "Pod" : "Node";
  if (!json->contains("apiVersion")) (*json)["apiVersion"] = "v1";
  WriteServerMeta(base, *json);
  (*json)["metadata"].erase("managedFields");
  if (const PodRef* pod = std::get_if<PodRef>(&object)) WritePod(**pod, scheduled_message, *json);
  return json;
}

std::string PodScheduledMessageIn(const Json& pod) {
  Json conditions = MemberOf(MemberOf(pod, "status"), "conditions");
  const Json* condition = FindCondition(conditions, "PodScheduled");
  return condition == nullptr ? std::string() : TextMember(*condition, "message");
}

Status PrepareUpdate(std::string_view kind, bool is_status, const Json& before, Json& after) {
  UpdateCheck check(kind, before, after);
  if (Status status = check.Metadata(is_status); !status.ok() || is_status) return status;
  return kind == kPodKind ? check.PodSpec() : check.NodeSpec();
}

}  // namespace berth::host
