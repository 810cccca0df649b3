#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "host/api/decode_parts.h"
#include "host/api/part_hash.h"

namespace berth::host {
namespace {

constexpr EnumValue kPreemptionPolicies[] = {{"PreemptLowerPriority", BERTH_PREEMPT_LOWER_PRIORITY},
                                             {"Never", BERTH_PREEMPT_NEVER}};
constexpr EnumValue kRestartPolicies[] = {{"Always", BERTH_RESTART_ALWAYS},
                                          {"OnFailure", BERTH_RESTART_ON_FAILURE},
                                          {"Never", BERTH_RESTART_NEVER}};
constexpr EnumValue kPhases[] = {{"Pending", BERTH_PHASE_PENDING},
                                 {"Running", BERTH_PHASE_RUNNING},
                                 {"Succeeded", BERTH_PHASE_SUCCEEDED},
                                 {"Failed", BERTH_PHASE_FAILED},
                                 {"Unknown", BERTH_PHASE_UNKNOWN}};

// Reads the fields of a pod in any order. Finish() computes the values that depend on several
// fields.
class PodReader {
 public:
  explicit PodReader(Reader& reader) : reader_(reader) {}

  bool Read(JsonObject& object);
  PodRef Finish();

 private:
  bool ReadSpecField(const Field& field, JsonValue& value);
  bool ReadIdentityField(const Field& field, JsonValue& value);
  bool ReadStatusField(const Field& field, JsonValue& value);
  bool ReadNestedText(JsonValue& value, uint64_t name, berth_str* text);
  bool ReadClaims(JsonValue& value);
  bool ReadClaimStatuses(JsonValue& value);
  bool ReadStatusesOfContainers(JsonValue& value);
  bool ReadPodResources(JsonValue& value);
  bool ReadEnumOrKeep(JsonValue& value, std::span<const EnumValue> values, uint32_t* number);

  PodRef MakePod();
  void ApplyDefaults();
  void ApplyHostNetwork(std::span<berth_container> containers);
  void NameEphemeralVolumes();
  void NameGeneratedClaims();
  void SumRequests();
  void CollectHostPorts();
  bool IsResizeInfeasible() const;

  Reader& reader_;
  berth_pod pod_ = {};
  berth_meta meta_ = {};
  berth_affinity affinity_ = {};
  Containers containers_;
  Containers init_containers_;
  std::span<berth_volume> volumes_;
  std::span<berth_resource_claim> claims_;
  // Pairs of the claim's name in the pod and the name of the generated claim.
  std::span<berth_str_pair> claim_statuses_;
  Stack<KeyMerge> merges_;
  ResourceList overhead_;
  ResourceList pod_requests_;
  ResourceList pod_limits_;
  bool has_status_resources_ = false;
  std::optional<PodStatusList> status_requests_;
  std::optional<PodStatusList> status_allocated_;
};

bool PodReader::Read(JsonObject& object) {
  pod_.restart_policy = BERTH_RESTART_ALWAYS;
  if (!KeepFields(reader_, object, reader_.options().pod_fields, reader_.options().keep_pod_text,
                  &meta_.fields)) {
    return false;
  }
  if (reader_.options().skip_unreadable) reader_.problems.StartSkipping();
  const bool ok = reader_.ForEachField(object, [this](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "metadata"_field: return reader_.problems.Require(ReadMeta(reader_, v, &meta_));
      case "spec"_field:
        return reader_.ForEachField(v, [this](const Field& of_spec, JsonValue& inner) {
          return ReadSpecField(of_spec, inner);
        });
      case "status"_field:
        return reader_.ForEachField(v, [this](const Field& of_status, JsonValue& inner) {
          return ReadStatusField(of_status, inner);
        });
      case "apiVersion"_field: return ExpectText(reader_, v, "v1");
      case "kind"_field: return ExpectText(reader_, v, "Pod");
      default: return true;
    }
  });
  if (!ok || !ExpectName(reader_, &meta_)) return false;
  const bool is_pending = pod_.node_name == kNoId;
  if (!is_pending || reader_.problems.empty()) return true;
  DecodeFault first = reader_.problems.TakeFirst();
  reader_.Fail(first.code, std::move(first.message));
  return reader_.PrependPointer(first.path);
}

// ---- spec ---------------------------------------------------------------------------------------

bool PodReader::ReadSpecField(const Field& field, JsonValue& v) {
  switch (field.hash) {
    case "containers"_field: return ReadContainers(reader_, v, &containers_, &pod_.flags);
    case "initContainers"_field: return ReadContainers(reader_, v, &init_containers_, &pod_.flags);
    case "ephemeralContainers"_field: return ReadEphemeralContainers(reader_, v, &pod_.flags);
    case "volumes"_field: return ReadVolumes(reader_, v, &volumes_);
    case "nodeSelector"_field: return ReadIdPairs(reader_, v, &pod_.node_selector);
    case "affinity"_field: return ReadAffinity(reader_, v, &affinity_, &merges_);
    case "tolerations"_field: return ReadTolerations(reader_, v, &pod_.tolerations);
    case "topologySpreadConstraints"_field: return ReadSpreads(reader_, v, &pod_.spreads, &merges_);
    case "schedulingGates"_field:
      return reader_.ReadList(v, berth_str{}, &pod_.scheduling_gates,
                              [this](JsonValue& gate, berth_str& name) {
                                return ReadNestedText(gate, "name"_field, &name);
                              });
    case "resourceClaims"_field: return ReadClaims(v);
    case "resources"_field: return ReadPodResources(v);
    case "overhead"_field: return ReadResources(reader_, v, &overhead_);
    case "schedulingGroup"_field: return ReadNestedText(v, "podGroupName"_field, &pod_.pod_group);
    default: return ReadIdentityField(field, v);
  }
}

bool PodReader::ReadIdentityField(const Field& field, JsonValue& v) {
  switch (field.hash) {
    case "schedulerName"_field: return reader_.ReadName(v, &pod_.scheduler_name);
    case "nodeName"_field: return reader_.ReadName(v, &pod_.node_name);
    case "priority"_field:
      if (!reader_.ReadInt32(v, &pod_.priority)) return false;
      pod_.flags |= BERTH_POD_HAS_PRIORITY;
      return true;
    case "preemptionPolicy"_field:
      return ReadEnumOrKeep(v, kPreemptionPolicies, &pod_.preemption_policy);
    case "priorityClassName"_field: return reader_.ReadName(v, &pod_.priority_class);
    case "runtimeClassName"_field: return reader_.ReadName(v, &pod_.runtime_class);
    case "os"_field:
      return reader_.ForEachField(v, [this](const Field& inner, JsonValue& name) {
        return inner.hash != "name"_field || reader_.ReadName(name, &pod_.os);
      });
    case "restartPolicy"_field: return ReadEnumOrKeep(v, kRestartPolicies, &pod_.restart_policy);
    case "hostNetwork"_field: return reader_.ReadFlag(v, BERTH_POD_HOST_NETWORK, &pod_.flags);
    case "hostUsers"_field: {
      bool has_host_users = true;
      if (!reader_.ReadBool(v, &has_host_users)) return false;
      pod_.flags &= ~uint32_t{BERTH_POD_HOST_USERS_FALSE};
      if (!has_host_users) pod_.flags |= BERTH_POD_HOST_USERS_FALSE;
      return true;
    }
    default: return true;
  }
}

// Reads an enumeration value. An empty string leaves the default unchanged.
bool PodReader::ReadEnumOrKeep(JsonValue& value, std::span<const EnumValue> values,
                               uint32_t* number) {
  uint32_t given = 0;
  if (!reader_.ReadEnum(value, values, &given)) return false;
  if (given != 0) *number = given;
  return true;
}

bool PodReader::ReadNestedText(JsonValue& value, uint64_t name, berth_str* text) {
  return reader_.ForEachField(value, [&](const Field& field, JsonValue& v) {
    return field.hash != name || reader_.ReadString(v, text);
  });
}

bool PodReader::ReadClaims(JsonValue& value) {
  return reader_.ReadObjects(value, berth_resource_claim{}, &claims_,
                             [this](const Field& field, JsonValue& v, berth_resource_claim& claim) {
                               switch (field.hash) {
                                 case "name"_field: return reader_.ReadString(v, &claim.name);
                                 case "resourceClaimName"_field:
                                   return reader_.ReadString(v, &claim.claim_name);
                                 case "resourceClaimTemplateName"_field:
                                   return reader_.ReadString(v, &claim.template_name);
                                 default: return true;
                               }
                             });
}

bool PodReader::ReadPodResources(JsonValue& value) {
  return reader_.ForEachField(value, [this](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "requests"_field: return ReadPodLevelResources(reader_, v, &pod_requests_);
      case "limits"_field: return ReadPodLevelResources(reader_, v, &pod_limits_);
      default: return true;
    }
  });
}

// ---- status -------------------------------------------------------------------------------------

bool PodReader::ReadStatusField(const Field& field, JsonValue& v) {
  switch (field.hash) {
    case "phase"_field: return reader_.ReadEnum(v, kPhases, &pod_.phase);
    case "conditions"_field: return ReadConditions(reader_, v, &pod_.conditions);
    case "nominatedNodeName"_field: return reader_.ReadName(v, &pod_.nominated_node);
    case "startTime"_field: return reader_.ReadTime(v, &pod_.started_ns);
    case "containerStatuses"_field: return ReadStatusesOfContainers(v);
    case "initContainerStatuses"_field: return ReadContainerStatuses(reader_, v);
    case "resourceClaimStatuses"_field: return ReadClaimStatuses(v);
    case "allocatedResources"_field: return ReadPodStatusList(reader_, v, &status_allocated_);
    case "resources"_field:
      has_status_resources_ = reader_.ForEachField(v, [this](const Field& inner, JsonValue& list) {
        if (inner.hash != "requests"_field) return true;
        return ReadPodStatusList(reader_, list, &status_requests_);
      });
      return has_status_resources_;
    default: return true;
  }
}

// Puts them before the statuses of init containers, in whichever order the fields are: of several
// statuses with one name only one counts.
bool PodReader::ReadStatusesOfContainers(JsonValue& value) {
  Stack<ContainerStatus>& statuses = reader_.stack<ContainerStatus>();
  const auto of_init_containers = static_cast<std::ptrdiff_t>(statuses.size());
  if (!ReadContainerStatuses(reader_, value)) return false;
  const std::span<ContainerStatus> all = statuses.Since(0);
  std::rotate(all.begin(), all.begin() + of_init_containers, all.end());
  return true;
}

bool PodReader::ReadClaimStatuses(JsonValue& value) {
  return reader_.ReadObjects(value, berth_str_pair{}, &claim_statuses_,
                             [this](const Field& field, JsonValue& v, berth_str_pair& pair) {
                               switch (field.hash) {
                                 case "name"_field: return reader_.ReadString(v, &pair.key);
                                 case "resourceClaimName"_field:
                                   return reader_.ReadString(v, &pair.value);
                                 default: return true;
                               }
                             });
}

// ---- Values that depend on several fields -------------------------------------------------------

void PodReader::ApplyDefaults() {
  if (meta_.ns == kNoId) meta_.ns = reader_.Intern("default");
  if (pod_.scheduler_name == kNoId) pod_.scheduler_name = reader_.Intern("default-scheduler");
  if (pod_.preemption_policy == 0) pod_.preemption_policy = BERTH_PREEMPT_LOWER_PRIORITY;
  if ((pod_.flags & BERTH_POD_HOST_NETWORK) != 0) {
    ApplyHostNetwork(containers_.views);
    ApplyHostNetwork(init_containers_.views);
  }
}

void PodReader::ApplyHostNetwork(std::span<berth_container> containers) {
  for (berth_container& container : containers) {
    const auto ports = reader_.arena().CopyArray(Elements<berth_port>(container.ports));
    for (berth_port& port : ports) {
      if (port.host_port == 0) port.host_port = port.container_port;
    }
    container.ports = AsArray(ports);
  }
}

void PodReader::NameEphemeralVolumes() {
  for (berth_volume& volume : volumes_) {
    if (volume.kind != BERTH_VOLUME_EPHEMERAL) continue;
    std::string name(Text(meta_.name));
    volume.source = reader_.CopyText(name.append("-").append(Text(volume.name)));
  }
}

void PodReader::NameGeneratedClaims() {
  for (berth_resource_claim& claim : claims_) {
    if (claim.claim_name.len != 0) continue;
    for (const berth_str_pair& status : claim_statuses_) {
      if (Text(status.key) != Text(claim.name)) continue;
      claim.claim_name = status.value;
      if (status.value.len == 0) claim.flags = BERTH_CLAIM_NOT_NEEDED;
    }
  }
}

bool PodReader::IsResizeInfeasible() const {
  for (const berth_condition& condition : Elements<berth_condition>(pod_.conditions)) {
    if (reader_.interner().Text(condition.type) != "PodResizePending") continue;
    return reader_.interner().Text(condition.reason) == "Infeasible";
  }
  return false;
}

void PodReader::SumRequests() {
  RequestInputs inputs = {.containers = containers_.requests,
                          .init_containers = init_containers_.requests,
                          .statuses = reader_.stack<ContainerStatus>().Since(0),
                          .pod_requests = pod_requests_,
                          .has_pod_status_resources = has_status_resources_,
                          .pod_status_requests = status_requests_,
                          .pod_status_allocated = status_allocated_,
                          .overhead = overhead_,
                          .resize_infeasible = IsResizeInfeasible()};
  if (!pod_limits_.empty()) {
    // Apply the defaults of the API server: cpu and memory default to the sum of the container
    // requests, then every resource defaults to its limit.
    reader_.resources.Assign(pod_requests_);
    for (const ResourceAmount& of_containers : reader_.calculator.SumContainers(inputs)) {
      if (of_containers.key > BERTH_PRESENT_MEMORY) break;
      reader_.resources.Fill({&of_containers, 1});
    }
    reader_.resources.Fill(pod_limits_);
    inputs.pod_requests = reader_.resources.Copy(reader_.scratch());
  }
  if (!inputs.pod_requests.empty()) pod_.flags |= BERTH_POD_HAS_POD_LEVEL_REQUESTS;

  const PodRequests sums = reader_.calculator.Calculate(inputs, reader_.arena());
  pod_.overhead = RoundUp(overhead_, reader_.arena());
  pod_.request = sums.request;
  pod_.request_of_containers = sums.request_of_containers;
  pod_.accounted = sums.accounted;
  pod_.nonzero_milli_cpu = sums.nonzero_milli_cpu;
  pod_.nonzero_memory = sums.nonzero_memory;
}

void PodReader::CollectHostPorts() {
  Stack<berth_port>& ports = reader_.stack<berth_port>();
  const size_t mark = ports.size();
  const auto collect = [&ports](std::span<const berth_container> containers, bool sidecars_only) {
    for (const berth_container& container : containers) {
      if (sidecars_only && (container.flags & BERTH_CONTAINER_SIDECAR) == 0) continue;
      for (const berth_port& port : Elements<berth_port>(container.ports)) {
        if (port.host_port > 0) ports.Push(port);
      }
    }
  };
  collect(containers_.views, false);
  collect(init_containers_.views, true);
  // A column of a host port finds its port in a long list by a binary search.
  std::ranges::stable_sort(ports.Since(mark), {}, &berth_port::host_port);
  pod_.host_ports = AsArray(ports.Take(mark, reader_.arena()));
}

PodRef PodReader::Finish() {
  ApplyDefaults();
  NameEphemeralVolumes();
  NameGeneratedClaims();
  for (const KeyMerge& merge : merges_.Since(0)) MergeKeys(reader_, meta_.labels, merge);
  SumRequests();
  CollectHostPorts();
  affinity_.struct_size = sizeof(affinity_);
  pod_.affinity = reader_.arena().New<berth_affinity>(affinity_);
  pod_.containers = AsArray(containers_.views);
  pod_.init_containers = AsArray(init_containers_.views);
  pod_.volumes = AsArray(volumes_);
  pod_.resource_claims = AsArray(claims_);
  return MakePod();
}

PodRef PodReader::MakePod() {
  pod_.meta = &meta_;
  PartHashes hashes;
  HashParts(pod_, kAllParts, reader_.interner(), hashes.data());
  if (PodRef pod = reader_.shared_parts.MakePod(pod_, meta_, hashes)) {
    reader_.Discard();
    return pod;
  }
  const std::span<uint64_t> others = reader_.arena().CopyArray(OtherHashes(hashes));
  pod_.part_hashes = AsArray(others);
  reader_.size_hints.pod = reader_.SuggestSize();
  PodRef pod = Pod::Make(reader_.Finish(), pod_, meta_, OwnHashes(hashes));
  reader_.shared_parts.Add(pod);
  return pod;
}

}  // namespace

bool ReadPod(Reader& reader, JsonObject& object, PodRef* pod) {
  reader.Begin(reader.size_hints.pod);
  PodReader pod_reader(reader);
  if (!pod_reader.Read(object)) return false;
  *pod = pod_reader.Finish();
  return true;
}

}  // namespace berth::host
