#include "host/cluster/control_plane/admission.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/api/api_kinds.h"
#include "host/api/quantity.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/control_plane/json_members.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// A kind in any of its versions.
struct KindInGroup {
  std::string_view group;
  std::string_view kind;
};

constexpr KindInGroup kLimitRange = {"", "LimitRange"};
constexpr KindInGroup kPriorityClass = {"scheduling.k8s.io", "PriorityClass"};
constexpr KindInGroup kRuntimeClass = {"node.k8s.io", "RuntimeClass"};

bool IsOf(std::string_view kind, const KindInGroup& wanted) {
  const GroupVersionKind parts = SplitKind(kind);
  return parts.group == wanted.group && parts.kind == wanted.kind;
}

// The classes that every API server has: pkg/apis/scheduling/v1/helpers.go.
struct SystemClass {
  std::string_view name;
  int64_t value;
};
constexpr std::array<SystemClass, 2> kSystemClasses = {{
    {"system-node-critical", 2'000'001'000},
    {"system-cluster-critical", 2'000'000'000},
}};

constexpr std::array<const char*, 2> kToleratedTaints = {"node.kubernetes.io/not-ready",
                                                         "node.kubernetes.io/unreachable"};
constexpr const char* kNoExecute = "NoExecute";
constexpr int kTolerationSeconds = 300;

std::vector<Json> ObjectsOf(const EmbeddedCluster& cluster, const KindInGroup& wanted) {
  std::vector<Json> objects;
  for (const std::string& kind : cluster.Kinds()) {
    if (!IsOf(kind, wanted)) continue;
    for (const AnyObject& object : cluster.List(kind)) {
      if (const auto* one = std::get_if<ObjectRef>(&object)) objects.push_back(ToJson(**one));
    }
  }
  return objects;
}

// Adds a toleration of the taint for a limited time, unless the pod tolerates the taint.
bool AddToleration(const char* taint, Json& tolerations) {
  for (const Json& toleration : tolerations) {
    const std::string key = TextAt(toleration, "/key");
    const std::string effect = TextAt(toleration, "/effect");
    if ((key.empty() || key == taint) && (effect.empty() || effect == kNoExecute)) return false;
  }
  tolerations.push_back({{"key", taint},
                         {"operator", "Exists"},
                         {"effect", kNoExecute},
                         {"tolerationSeconds", kTolerationSeconds}});
  return true;
}

// Returns the value of a class; nullopt if it states none that is an integer.
std::optional<int64_t> ValueOf(const Json& priority_class) {
  const Json& value = ValueAt(priority_class, "/value");
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<int64_t>();
}

// Completes one container. The API server has already made each limit a request when admission
// begins, so that a request of the LimitRange does not replace a limit of the container.
bool AddDefaults(const Json& requests, const Json& limits, Json& container) {
  Json& resources = ObjectIn(container, "resources");
  ObjectIn(resources, "limits");
  // A new member moves the others.
  Json& own_requests = ObjectIn(resources, "requests");
  Json& own_limits = ObjectIn(resources, "limits");
  AddMissing(own_limits, own_requests);
  const bool has_limits = AddMissing(limits, own_limits);
  return AddMissing(requests, own_requests) || has_limits;
}

// Returns a quantity, which may be a text or a number; nullopt if it is none.
std::optional<Quantity> QuantityOf(const Json& value) {
  const Result<Quantity> parsed =
      ParseQuantity(value.is_string() ? value.get<std::string>() : DumpJson(value));
  return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

Status CheckAmounts(const Json& amounts, const std::string& pointer) {
  if (!amounts.is_object()) {
    return Unexpected(pointer, "an object with quantities", FoundText(amounts));
  }
  for (const auto& [name, value] : amounts.items()) {
    if (QuantityOf(value).has_value()) continue;
    const std::string place = std::string(pointer).append("/").append(name);
    return Unexpected(place, "a quantity such as 100m", FoundText(value));
  }
  return {};
}

Status CheckPriorityClass(const Json& object) {
  const std::optional<int64_t> value = ValueOf(object);
  if (!value.has_value() || *value < INT32_MIN || *value > INT32_MAX) {
    return Unexpected("/value", "an integer of 32 bits", FoundText(ValueAt(object, "/value")));
  }
  const Json& is_default = ValueAt(object, "/globalDefault");
  if (is_default.is_null() || is_default.is_boolean()) return {};
  return Unexpected("/globalDefault", "true or false", FoundText(is_default));
}

Status CheckLimitRange(const Json& object) {
  const Json& limits = ValueAt(object, "/spec/limits");
  if (!limits.is_array()) {
    return Unexpected("/spec/limits", "an array", FoundText(limits));
  }
  for (size_t i = 0; i < limits.size(); ++i) {
    for (const char* list : {"/default", "/defaultRequest", "/max", "/min"}) {
      const Json& amounts = ValueAt(limits[i], list);
      if (amounts.is_null()) continue;
      Status status = CheckAmounts(amounts, "/spec/limits/" + std::to_string(i) + list);
      if (!status.ok()) return status;
    }
  }
  return {};
}

// Returns whether two lists of resources have the same amounts, however they are written.
bool AreEqualAmounts(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object() || a.size() != b.size()) return false;
  return std::ranges::all_of(a.items(), [&b](const auto& item) {
    return b.contains(item.key()) && QuantityOf(item.value()) == QuantityOf(b[item.key()]);
  });
}

// Returns whether a container requests no cpu or no memory.
bool HasContainerWithoutRequests(const Json& spec) {
  const auto lacks = [](const Json& container, const char* request, const char* limit) {
    return ValueAt(container, request).is_null() && ValueAt(container, limit).is_null();
  };
  return std::ranges::any_of(ValueAt(spec, "/containers"), [&lacks](const Json& container) {
    return lacks(container, "/resources/requests/cpu", "/resources/limits/cpu") ||
           lacks(container, "/resources/requests/memory", "/resources/limits/memory");
  });
}

// An update does not change the priority of a pod, whatever has become of its class.
void KeepPriority(const Pod& stored, Json& spec) {
  const bool is_never = stored.view().preemption_policy == BERTH_PREEMPT_NEVER;
  spec["priority"] = stored.view().priority;
  spec["preemptionPolicy"] = is_never ? "Never" : "PreemptLowerPriority";
}

// Returns the error for a class that the cluster does not have.
Status Missing(std::string_view pointer, std::string_view kind, std::string_view name) {
  const Status error =
      Unexpected(pointer, std::string(kind).append(" of the cluster"), Quoted(name));
  return Status::NotFound(std::string(error.message()));
}

}  // namespace

Status Admission::Check(std::string_view kind, const Json& object) {
  if (IsOf(kind, kPriorityClass)) return CheckPriorityClass(object);
  if (IsOf(kind, kRuntimeClass)) {
    const Json& overhead = ValueAt(object, "/overhead");
    if (overhead.is_null()) return {};
    return CheckAmounts(ValueAt(overhead, "/podFixed"), "/overhead/podFixed");
  }
  return IsOf(kind, kLimitRange) ? CheckLimitRange(object) : Status();
}

std::span<const std::string_view> Admission::Kinds() {
  static constexpr std::array<std::string_view, 3> kKinds = {
      "node.k8s.io/v1/RuntimeClass", "scheduling.k8s.io/v1/PriorityClass", "v1/LimitRange"};
  return kKinds;
}

bool Admission::Reads(std::string_view kind) {
  return IsOf(kind, kLimitRange) || IsOf(kind, kPriorityClass) || IsOf(kind, kRuntimeClass);
}

Admission::LimitDefaults Admission::DefaultsOf(const Json& item) {
  LimitDefaults defaults;
  AddMissing(ValueAt(item, "/default"), defaults.limits);
  AddMissing(ValueAt(item, "/defaultRequest"), defaults.requests);
  AddMissing(ValueAt(item, "/max"), defaults.limits);
  AddMissing(defaults.limits, defaults.requests);
  AddMissing(ValueAt(item, "/min"), defaults.requests);
  return defaults;
}

const Admission::Policies& Admission::policies() {
  if (policies_.has_value()) return *policies_;
  Policies& policies = policies_.emplace();
  for (const Json& range : ObjectsOf(cluster_, kLimitRange)) {
    for (const Json& item : ValueAt(range, "/spec/limits")) {
      if (TextAt(item, "/type") != "Container") continue;
      policies.limits[NamespaceOf(range)].push_back(DefaultsOf(item));
    }
  }
  std::optional<int64_t> lowest;
  for (Json& one : ObjectsOf(cluster_, kPriorityClass)) {
    const std::string name = TextAt(one, "/metadata/name");
    const std::optional<int64_t> value = ValueOf(one);
    // Of several global defaults, an API server takes the one with the lowest value.
    if (ValueAt(one, "/globalDefault") == true && value.has_value() &&
        (!lowest.has_value() || *value < *lowest)) {
      lowest = value;
      policies.default_class = name;
    }
    policies.priority_classes.emplace(name, std::move(one));
  }
  for (const SystemClass& one : kSystemClasses) {
    policies.priority_classes.emplace(one.name, Json{{"value", one.value}});
  }
  for (Json& one : ObjectsOf(cluster_, kRuntimeClass)) {
    policies.runtime_classes.emplace(TextAt(one, "/metadata/name"), std::move(one));
  }
  return policies;
}

bool Admission::AddLimits(Json& pod) {
  const auto found = policies().limits.find(NamespaceOf(pod));
  if (found == policies().limits.end()) return false;
  bool is_changed = false;
  for (const LimitDefaults& defaults : found->second) {
    for (const char* list : {"containers", "initContainers"}) {
      if (!pod["spec"].contains(list)) continue;
      for (Json& container : pod["spec"][list]) {
        is_changed |= AddDefaults(defaults.requests, defaults.limits, container);
      }
    }
  }
  return is_changed;
}

Result<bool> Admission::AddPriority(Json& spec) {
  std::string name = TextAt(spec, "/priorityClassName");
  const Json& own = ValueAt(spec, "/priority");
  if (name.empty()) {
    if (!own.is_null() || policies().default_class.empty()) return false;
    name = policies().default_class;
  }
  const auto found = policies().priority_classes.find(name);
  if (found == policies().priority_classes.end()) {
    // A pod that states the value comes from a cluster, whose class the files lack.
    if (!own.is_null()) return false;
    return Missing("/spec/priorityClassName", "a PriorityClass", name);
  }
  const std::optional<int64_t> value = ValueOf(found->second);
  if (!value.has_value()) {
    return Unexpected("/spec/priorityClassName", "a PriorityClass with a value", Quoted(name));
  }
  if (!own.is_null() && own != *value) {
    return Unexpected("/spec/priority",
                      std::to_string(*value) + " of the PriorityClass " + Quoted(name),
                      DumpJson(own));
  }
  const Json& policy = ValueAt(found->second, "/preemptionPolicy");
  const Json expected = policy.is_null() ? Json("PreemptLowerPriority") : policy;
  const Json& own_policy = ValueAt(spec, "/preemptionPolicy");
  if (!own_policy.is_null() && own_policy != expected) {
    return Unexpected("/spec/preemptionPolicy",
                      DumpJson(expected) + " of the PriorityClass " + Quoted(name),
                      DumpJson(own_policy));
  }
  const bool has_policy = !own_policy.is_null();
  spec["priorityClassName"] = name;
  spec["priority"] = *value;
  if (!policy.is_null() && !has_policy) spec["preemptionPolicy"] = policy;
  return true;
}

Result<bool> Admission::AddRuntimeClass(Json& spec) {
  const std::string name = TextAt(spec, "/runtimeClassName");
  if (name.empty()) return false;
  const auto found = policies().runtime_classes.find(name);
  if (found == policies().runtime_classes.end()) {
    return Missing("/spec/runtimeClassName", "a RuntimeClass", name);
  }
  bool is_changed = false;
  const Json& overhead = ValueAt(found->second, "/overhead/podFixed");
  if (!overhead.empty()) {
    const Json& own = ValueAt(spec, "/overhead");
    if (!own.empty() && !AreEqualAmounts(own, overhead)) {
      return Unexpected("/spec/overhead",
                        DumpJson(overhead) + " of the RuntimeClass " + Quoted(name),
                        QuotedJson(own));
    }
    is_changed = own.empty();
    spec["overhead"] = overhead;
  }
  for (const auto& [key, value] : ValueAt(found->second, "/scheduling/nodeSelector").items()) {
    Json& own = ObjectIn(spec, "nodeSelector")[key];
    if (!own.is_null() && own != value) {
      return Unexpected("/spec/nodeSelector",
                        key + "=" + DumpJson(value) + " of the RuntimeClass " + Quoted(name),
                        DumpJson(own));
    }
    is_changed |= own.is_null();
    own = value;
  }
  for (const Json& toleration : ValueAt(found->second, "/scheduling/tolerations")) {
    Json& own = ArrayIn(spec, "tolerations");
    const auto is_equal = [&](const Json& one) { return AreEqual(one, toleration); };
    if (std::ranges::any_of(own, is_equal)) continue;
    own.push_back(toleration);
    is_changed = true;
  }
  return is_changed;
}

bool Admission::DoTolerationsMatter() const {
  const std::vector<AnyObject> nodes = cluster_.List(kNodeKind);
  return std::ranges::any_of(nodes, [](const AnyObject& object) {
    const Node& node = *std::get<NodeRef>(object);
    return std::ranges::any_of(Elements<berth_taint>(node.view().taints), [&](const auto& taint) {
      return std::ranges::find(kToleratedTaints, node.interner().Text(taint.key)) !=
             kToleratedTaints.end();
    });
  });
}

Status Admission::Admit(Json& pod, const Pod* stored) {
  Json& spec = ObjectIn(pod, "spec");
  const bool has_limits = AddLimits(pod);
  if (stored != nullptr) KeepPriority(*stored, spec);
  const Result<bool> priority = stored != nullptr ? Result<bool>(false) : AddPriority(spec);
  if (!priority.ok()) return priority.status();
  Json& tolerations = ArrayIn(spec, "tolerations");
  bool has_tolerations = false;
  for (const char* taint : kToleratedTaints) has_tolerations |= AddToleration(taint, tolerations);
  const Result<bool> runtime_class = AddRuntimeClass(spec);
  if (stored != nullptr) return {};
  if (!runtime_class.ok()) return runtime_class.status();
  counts_.limit_ranges += has_limits ? 1 : 0;
  counts_.priorities += *priority ? 1 : 0;
  counts_.tolerations += has_tolerations ? 1 : 0;
  counts_.runtime_classes += *runtime_class ? 1 : 0;
  counts_.without_requests += HasContainerWithoutRequests(spec) ? 1 : 0;
  ++counts_.pods;
  return {};
}

}  // namespace berth::host
