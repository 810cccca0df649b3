#include "host/cluster/kubernetes/write/request_bodies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cluster/json_body.h"
#include "host/http/endpoint.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// The most bytes of a name (RFC 1123 subdomain).
constexpr size_t kMaxEventNameBytes = 253;

// The usual sizes of texts, for which memory is allocated once.
constexpr size_t kBindingBytes = 256;
constexpr size_t kEventBytes = 768;

std::string NamespacedPath(std::string_view prefix, std::string_view ns, std::string_view resource,
                           std::string_view name) {
  BERTH_ASSERT(!ns.empty());
  std::string path(prefix);
  path.append("/namespaces/").append(EncodePathPart(ns)).append(1, '/').append(resource);
  if (!name.empty()) path.append(1, '/').append(EncodePathPart(name));
  return path;
}

constexpr size_t kSecondSize = std::string_view("2026-01-10T08:00:00").size();

// Returns the text of the second that contains the time. The start of the second of the earliest
// time is no int64 of nanoseconds.
std::string SecondText(int64_t nanoseconds) {
  return FormatTime(nanoseconds).substr(0, kSecondSize).append(1, 'Z');
}

// Returns whether the character stands for itself in a JSON string, whatever is next to it.
bool IsPlainInJson(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// ---- Conditions ---------------------------------------------------------------------------------

Json ConditionJson(const char* type, const PodStatusPatch::Condition& condition) {
  Json json = {{"type", type},
               {"status", ConditionStatusName(condition.status)},
               {"reason", condition.reason},
               {"message", condition.message},
               {"lastProbeTime", nullptr}};
  if (!condition.keeps_status) {
    json["lastTransitionTime"] = SecondText(condition.transition_ns);
  }
  if (condition.observed_generation != 0) {
    json["observedGeneration"] = condition.observed_generation;
  }
  return json;
}

// ---- Events -------------------------------------------------------------------------------------

void AddReference(JsonObjectWriter& json, std::string_view key, const ObjectReference& reference) {
  json.BeginObject(key);
  json.AddTextIfAny("apiVersion", reference.api_version);
  json.AddTextIfAny("kind", reference.kind);
  json.AddTextIfAny("namespace", reference.ns);
  json.AddTextIfAny("name", reference.name);
  json.AddTextIfAny("uid", reference.uid);
  json.AddTextIfAny("resourceVersion", reference.resource_version);
  json.EndObject();
}

void AddSeries(JsonObjectWriter& json, const EventSeries& series) {
  json.BeginObject("series");
  json.AddNumber("count", series.count);
  json.AddText("lastObservedTime", MicroTime(series.last_ns));
  json.EndObject();
}

std::string_view EventNamespace(const Event& event) {
  return event.regarding.ns.empty() ? std::string_view("default") : event.regarding.ns;
}

// ---- Reading ------------------------------------------------------------------------------------

// Reads the fields of an object that a server returned. A field of another type than expected is an
// error of the whole object; a field that is absent or null has the default value.
class AnswerFields {
 public:
  AnswerFields(std::string_view kind, std::string_view body) : kind_(kind) {
    Result<Json> json = ParseBody(body, kMaxAnswerBytes);
    if (json.ok()) {
      root_ = *std::move(json);
    } else {
      status_ = Status::Internal("the server's answer is not a " + std::string(kind) + ": " +
                                 std::string(json.status().message()));
    }
  }

  const Json& root() const { return root_; }

  // Returns the member at `key` if it is an object; an empty object otherwise.
  const Json& ObjectAt(const Json& json, const char* key) {
    static const Json kNone = Json::object();
    const Json* found = Find(json, key, &Json::is_object, "an object");
    return found == nullptr ? kNone : *found;
  }
  std::string TextAt(const Json& json, const char* key) {
    const Json* found = Find(json, key, &Json::is_string, "a string");
    return found == nullptr ? std::string() : found->get<std::string>();
  }
  int32_t NumberAt(const Json& json, const char* key) {
    const Json* found = Find(json, key);
    if (found == nullptr) return 0;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    // A large unsigned number becomes negative here, which the comparison refuses.
    const int64_t number = found->is_number_integer() ? found->get<int64_t>() : -1;
    if (number >= 0 && number <= kMost) return static_cast<int32_t>(number);
    Fail(key, "a number of 32 bits", *found);
    return 0;
  }
  int64_t TimeAt(const Json& json, const char* key) {
    const std::string text = TextAt(json, key);
    if (text.empty()) return 0;
    const Result<int64_t> time = ParseTime(text);
    if (!time.ok()) Fail(key, "a time", Json(text));
    return time.ok() ? *time : 0;
  }
  bool Has(const Json& json, const char* key) const { return Find(json, key) != nullptr; }
  Status Missing(const char* key) const {
    return Status::Internal(Place(key) + " is missing in the server's answer");
  }
  const Status& status() const { return status_; }

 private:
  static const Json* Find(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
  // Returns the member if it has the type.
  const Json* Find(const Json& json, const char* key, bool (Json::*is_type)() const,
                   const char* expected) {
    const Json* const found = Find(json, key);
    if (found == nullptr || (found->*is_type)()) return found;
    Fail(key, expected, *found);
    return nullptr;
  }
  std::string Place(const char* key) const { return std::string(kind_).append(": ").append(key); }
  void Fail(const char* key, const char* expected, const Json& found) {
    if (!status_.ok()) return;
    status_ = Status::Internal(Place(key) + ": expected " + expected +
                               " in the server's answer, found " + QuotedJson(found));
  }

  const std::string_view kind_;
  Json root_ = Json::object();
  Status status_;
};

}  // namespace

const char* ConditionStatusName(uint32_t status) {
  switch (status) {
    case BERTH_CONDITION_TRUE: return "True";
    case BERTH_CONDITION_FALSE: return "False";
    default: return "Unknown";
  }
}

std::string EncodePathPart(std::string_view text) {
  if (!std::ranges::all_of(text, [](char c) { return c == '.'; })) return PercentEncode(text);
  std::string dots;
  for (size_t i = 0; i < text.size(); ++i) dots.append("%2E");
  return dots;
}

std::string PodPath(const PodName& pod, std::string_view subresource) {
  BERTH_ASSERT(!pod.name.empty());
  std::string path = NamespacedPath("/api/v1", pod.ns, "pods", pod.name);
  if (!subresource.empty()) path.append(1, '/').append(subresource);
  return path;
}

std::string LeasePath(std::string_view ns, std::string_view name) {
  return NamespacedPath("/apis/coordination.k8s.io/v1", ns, "leases", name);
}

std::string EventPath(const Event& event, std::string_view name) {
  return NamespacedPath("/apis/events.k8s.io/v1", EventNamespace(event), "events", name);
}

std::string BindingBody(const PodName& pod, std::string_view node) {
  JsonObjectWriter json(kBindingBytes);
  json.AddText("apiVersion", "v1");
  json.AddText("kind", "Binding");
  json.BeginObject("metadata");
  json.AddText("name", pod.name);
  json.AddText("namespace", pod.ns);
  json.AddTextIfAny("uid", pod.uid);
  json.EndObject();
  json.BeginObject("target");
  json.AddText("kind", "Node");
  json.AddText("name", node);
  json.EndObject();
  return json.Finish();
}

std::string StatusPatchBody(const PodName& pod, const PodStatusPatch& patch) {
  Json conditions = Json::array();
  if (patch.pod_scheduled)
    conditions.push_back(ConditionJson("PodScheduled", *patch.pod_scheduled));
  if (patch.disruption_target) {
    conditions.push_back(ConditionJson("DisruptionTarget", *patch.disruption_target));
  }
  Json status = Json::object();
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  if (patch.nominated_node) {
    status["nominatedNodeName"] =
        patch.nominated_node->empty() ? Json(nullptr) : Json(*patch.nominated_node);
  }
  Json json = Json::object();
  if (!pod.uid.empty()) json["metadata"] = {{"uid", pod.uid}};
  json["status"] = std::move(status);
  return DumpJson(json);
}

std::string DeleteBody(const PodName& pod, std::optional<int64_t> grace_seconds) {
  Json json = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (grace_seconds) json["gracePeriodSeconds"] = *grace_seconds;
  if (!pod.uid.empty()) json["preconditions"] = {{"uid", pod.uid}};
  return DumpJson(json);
}

std::string EventBody(const Event& event, std::string_view name,
                      const std::optional<EventSeries>& series) {
  JsonObjectWriter json(kEventBytes + event.note.size());
  json.AddText("apiVersion", "events.k8s.io/v1");
  json.AddText("kind", "Event");
  json.BeginObject("metadata");
  json.AddText("name", name);
  json.AddText("namespace", EventNamespace(event));
  json.EndObject();
  json.AddText("eventTime", MicroTime(event.time_ns));
  json.AddText("type", event.type);
  json.AddText("reason", event.reason);
  json.AddText("action", event.action);
  json.AddText("note", TruncateNote(event.note));
  AddReference(json, "regarding", event.regarding);
  json.AddText("reportingController", event.reporting_controller);
  json.AddText("reportingInstance", event.reporting_instance);
  if (event.related) AddReference(json, "related", *event.related);
  if (series) AddSeries(json, *series);
  return json.Finish();
}

std::string EventSeriesBody(const EventSeries& series) {
  JsonObjectWriter json;
  AddSeries(json, series);
  return json.Finish();
}

std::string EventName(const Event& event, int64_t unique_ns) {
  std::array<char, 24> suffix = {'.'};
  char* const end =
      std::to_chars(suffix.begin() + 1, suffix.end(), static_cast<uint64_t>(unique_ns), 16).ptr;
  const std::string_view unique(suffix.begin(), end);
  std::string name = event.regarding.name.substr(0, kMaxEventNameBytes - unique.size());
  // A part of a name must not end with one of these.
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return name.append(unique);
}

std::string LeaseBody(const Lease& lease, std::string_view stored) {
  Json json = Json::object();
  if (!stored.empty()) {
    if (Result<Json> parsed = ParseBody(stored); parsed.ok()) json = *std::move(parsed);
  }
  json["apiVersion"] = "coordination.k8s.io/v1";
  json["kind"] = "Lease";
  Json& metadata = json["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata.erase("managedFields");
  metadata["name"] = lease.name;
  metadata["namespace"] = lease.ns;
  metadata.erase("resourceVersion");
  if (!lease.resource_version.empty()) metadata["resourceVersion"] = lease.resource_version;
  Json& spec = json["spec"];
  if (!spec.is_object()) spec = Json::object();
  // client-go leaves out an empty holder, too. (LeaderElectionRecordToLeaseSpec)
  spec.erase("holderIdentity");
  if (!lease.holder_identity.empty()) spec["holderIdentity"] = lease.holder_identity;
  spec["leaseDurationSeconds"] = lease.duration_seconds;
  spec["acquireTime"] = lease.acquire_ns == 0 ? Json(nullptr) : Json(MicroTime(lease.acquire_ns));
  spec["renewTime"] = lease.renew_ns == 0 ? Json(nullptr) : Json(MicroTime(lease.renew_ns));
  spec["leaseTransitions"] = lease.transitions;
  return DumpJson(json);
}

Result<Lease> ReadLease(std::string_view body) {
  AnswerFields reader("lease", body);
  const Json& metadata = reader.ObjectAt(reader.root(), "metadata");
  const Json& spec = reader.ObjectAt(reader.root(), "spec");
  Lease lease;
  lease.ns = reader.TextAt(metadata, "namespace");
  lease.name = reader.TextAt(metadata, "name");
  lease.resource_version = reader.TextAt(metadata, "resourceVersion");
  lease.holder_identity = reader.TextAt(spec, "holderIdentity");
  lease.duration_seconds = reader.NumberAt(spec, "leaseDurationSeconds");
  lease.transitions = reader.NumberAt(spec, "leaseTransitions");
  lease.acquire_ns = reader.TimeAt(spec, "acquireTime");
  lease.renew_ns = reader.TimeAt(spec, "renewTime");
  if (!reader.status().ok()) return reader.status();
  if (lease.resource_version.empty()) return reader.Missing("metadata.resourceVersion");
  return lease;
}

Result<PodBinding> ReadPodBinding(std::string_view body) {
  AnswerFields reader("pod", body);
  const Json& metadata = reader.ObjectAt(reader.root(), "metadata");
  PodBinding binding;
  binding.uid = reader.TextAt(metadata, "uid");
  binding.node = reader.TextAt(reader.ObjectAt(reader.root(), "spec"), "nodeName");
  binding.is_deleting = reader.Has(metadata, "deletionTimestamp");
  if (!reader.status().ok()) return reader.status();
  if (binding.uid.empty()) return reader.Missing("metadata.uid");
  if (!reader.Has(reader.root(), "spec")) return reader.Missing("spec");
  return binding;
}

std::string MicroTime(int64_t nanoseconds) {
  constexpr size_t kSize = std::string_view("2026-01-10T08:00:00.123456").size();
  std::string text = FormatTime(nanoseconds);
  text.pop_back();  // The "Z".
  if (text.size() == kSecondSize) text.push_back('.');
  text.resize(kSize, '0');
  return text.append(1, 'Z');
}

void JsonObjectWriter::AddKey(std::string_view key) {
  if (json_.back() != '{') json_.push_back(',');
  json_.append(1, '"').append(key).append("\":");
}

void JsonObjectWriter::AddText(std::string_view key, std::string_view text) {
  AddKey(key);
  if (std::ranges::all_of(text, IsPlainInJson)) {
    json_.append(1, '"').append(text).append(1, '"');
  } else {
    json_.append(DumpJson(nlohmann::json(text)));
  }
}

void JsonObjectWriter::AddNumber(std::string_view key, int64_t number) {
  AddKey(key);
  json_.append(std::to_string(number));
}

void JsonObjectWriter::BeginObject(std::string_view key) {
  AddKey(key);
  json_.push_back('{');
}

}  // namespace berth::host
