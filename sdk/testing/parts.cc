#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/pod.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/parts.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/spec.h>

namespace berth::testing {
namespace {

// Calls `copy` for each pair of containers in both lists. A container that `from` lacks counts as
// empty.
template <class Copy>
void CopyContainers(const PodSpec& from, PodSpec* to, Copy copy) {
  const auto each = [&copy](const std::vector<ContainerSpec>& source,
                            std::vector<ContainerSpec>* target) {
    for (size_t i = 0; i < target->size(); ++i) {
      copy(i < source.size() ? source[i] : ContainerSpec{}, &(*target)[i]);
    }
  };
  each(from.containers, &to->containers);
  each(from.init_containers, &to->init_containers);
}

// Does the same as CopyContainers(), but first adds a container to a pod without containers, so
// that the part can be stored.
template <class Copy>
void CopyInto(const PodSpec& from, PodSpec* to, Copy copy) {
  if (to->containers.empty() && !from.containers.empty()) to->Container("c");
  CopyContainers(from, to, copy);
}

void CopySelection(const PodSpec& from, PodSpec* to) {
  to->node_selector = from.node_selector;
  to->required_node_terms = from.required_node_terms;
  to->preferred_node_terms = from.preferred_node_terms;
}

void CopyPodAffinity(const PodSpec& from, PodSpec* to) {
  to->required_pod_terms = from.required_pod_terms;
  to->preferred_pod_terms = from.preferred_pod_terms;
  to->required_pod_anti_terms = from.required_pod_anti_terms;
  to->preferred_pod_anti_terms = from.preferred_pod_anti_terms;
}

void CopyRuntime(const PodSpec& from, PodSpec* to) {
  to->os = from.os;
  to->runtime_class = from.runtime_class;
  to->host_network = from.host_network;
  to->host_users = from.host_users;
  to->bind_mount_options = from.bind_mount_options;
  to->restart_policy = from.restart_policy;
}

void CopyRequests(const PodSpec& from, PodSpec* to) {
  if (to->containers.empty() && !from.containers.empty()) to->Container("c");
  CopyContainers(from, to, [](const ContainerSpec& source, ContainerSpec* target) {
    target->requests = source.requests;
    target->allocated = source.allocated;
  });
}

void ChangeContainers(PodSpec* pod) {
  for (auto* list : {&pod->containers, &pod->init_containers}) {
    for (ContainerSpec& container : *list) {
      container.name += "-changed";
      container.restarts_all = !container.restarts_all;
      container.limits["cpu"] += 10'000'000;
    }
  }
  pod->containers.push_back({"added"});
}

void ChangePorts(PodSpec* pod) {
  if (pod->containers.empty()) pod->Container("c");
  for (ContainerSpec& container : pod->containers) {
    for (PortSpec& port : container.ports) port.host_port += port.host_port > 0 ? 1 : 0;
  }
  pod->containers.front().ports.push_back({9999, 9999});
}

void ChangeRequests(PodSpec* pod) {
  if (pod->containers.empty()) pod->Container("c");
  ContainerSpec& first = pod->containers.front();
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "berth.test/added"}) {
    first.requests[name] = internal::AddAmounts(first.requests[name], int64_t{1} << 40);
  }
}

void ChangeImages(PodSpec* pod) {
  if (pod->containers.empty()) pod->Container("c");
  for (auto* list : {&pod->containers, &pod->init_containers}) {
    for (ContainerSpec& container : *list) container.image += "berth.test/changed";
  }
}

void ChangeLabels(PodSpec* pod) {
  for (auto& [key, value] : pod->labels) value += "-changed";
  pod->labels["berth.test/added"] = "added";
}

void ChangeAnnotations(PodSpec* pod) {
  for (auto& [key, value] : pod->annotations) value += "-changed";
  pod->Annotation("berth.test/added", "added");
}

void ChangeRuntime(PodSpec* pod) {
  pod->os += "changed", pod->runtime_class += "changed";
  pod->host_network = !pod->host_network, pod->host_users = !pod->host_users;
  pod->bind_mount_options = !pod->bind_mount_options;
  pod->restart_policy =
      pod->restart_policy == BERTH_RESTART_ALWAYS ? BERTH_RESTART_NEVER : BERTH_RESTART_ALWAYS;
}

void ChangeVolumes(PodSpec* pod) {
  for (VolumeSpec& volume : pod->volumes) volume.source += "changed";
  pod->PersistentClaim("added", "added");
}

}  // namespace

std::string_view PartName(int part) {
  static constexpr std::string_view kNames[] = {
      "IDENTITY", "TIMES",          "NODE_NAME",      "NOMINATION",   "STATUS",
      "VOLUMES",  "NAMESPACE",      "LABELS",         "ANNOTATIONS",  "OWNERS",
      "PRIORITY", "SCHEDULER_NAME", "NODE_SELECTION", "POD_AFFINITY", "TOLERATIONS",
      "SPREAD",   "REQUESTS",       "CONTAINERS",     "PORTS",        "IMAGES",
      "GATES",    "CLAIMS",         "GROUP",          "RUNTIME",      "FIELDS"};
  static_assert(std::size(kNames) == BERTH_PART_COUNT);
  return kNames[part];
}

void CopyPart(int part, const PodSpec& from, PodSpec* to) {
  switch (part) {
    case BERTH_PART_IDENTITY:
      to->name = from.name, to->uid = from.uid, to->resource_version = from.resource_version;
      return;
    case BERTH_PART_NAMESPACE: to->ns = from.ns; return;
    case BERTH_PART_LABELS: to->labels = from.labels; return;
    case BERTH_PART_ANNOTATIONS: to->annotations = from.annotations; return;
    case BERTH_PART_OWNERS: to->owners = from.owners; return;
    case BERTH_PART_TIMES:
      to->created_ns = from.created_ns, to->deleted_ns = from.deleted_ns;
      return;
    case BERTH_PART_PRIORITY:
      to->priority = from.priority, to->priority_class = from.priority_class;
      to->preemption_policy = from.preemption_policy;
      return;
    case BERTH_PART_SCHEDULER_NAME: to->scheduler_name = from.scheduler_name; return;
    case BERTH_PART_NODE_NAME: to->node_name = from.node_name; return;
    case BERTH_PART_NODE_SELECTION: CopySelection(from, to); return;
    case BERTH_PART_POD_AFFINITY: CopyPodAffinity(from, to); return;
    case BERTH_PART_TOLERATIONS: to->tolerations = from.tolerations; return;
    case BERTH_PART_SPREAD: to->spreads = from.spreads; return;
    case BERTH_PART_REQUESTS: CopyRequests(from, to); return;
    case BERTH_PART_CONTAINERS:
      to->containers = from.containers, to->init_containers = from.init_containers;
      to->overhead = from.overhead, to->pod_requests = from.pod_requests;
      return;
    case BERTH_PART_PORTS:
      CopyInto(from, to, [](const ContainerSpec& a, ContainerSpec* b) { b->ports = a.ports; });
      return;
    case BERTH_PART_IMAGES:
      CopyInto(from, to, [](const ContainerSpec& a, ContainerSpec* b) { b->image = a.image; });
      return;
    case BERTH_PART_VOLUMES: to->volumes = from.volumes; return;
    case BERTH_PART_GATES: to->gates = from.gates; return;
    case BERTH_PART_CLAIMS: to->claims = from.claims; return;
    case BERTH_PART_GROUP: to->pod_group = from.pod_group; return;
    case BERTH_PART_RUNTIME: CopyRuntime(from, to); return;
    case BERTH_PART_NOMINATION: to->nominated_node = from.nominated_node; return;
    case BERTH_PART_STATUS:
      to->phase = from.phase, to->conditions = from.conditions, to->started_ns = from.started_ns;
      return;
    case BERTH_PART_FIELDS: to->fields = from.fields; return;
    default: Misuse("no part " + std::to_string(part));
  }
}

void ChangePart(int part, PodSpec* pod) {
  const Requirements foreign = {In("berth.test/added", {"added"})};
  switch (part) {
    case BERTH_PART_IDENTITY:
      pod->name += "-changed", pod->uid += "-changed", pod->resource_version += "1";
      return;
    case BERTH_PART_NAMESPACE: pod->ns += "-changed"; return;
    case BERTH_PART_LABELS: ChangeLabels(pod); return;
    case BERTH_PART_ANNOTATIONS: ChangeAnnotations(pod); return;
    case BERTH_PART_OWNERS: pod->Owner({"ReplicaSet", "added", "uid-added"}); return;
    case BERTH_PART_TIMES:
      pod->created_ns += 1'000'000'007, pod->deleted_ns += 1'000'000'009;
      return;
    case BERTH_PART_PRIORITY:
      pod->Priority(pod->priority.value_or(0) + 1'000'000).PriorityClass("berth-test-changed");
      return;
    case BERTH_PART_SCHEDULER_NAME: pod->scheduler_name += "-changed"; return;
    case BERTH_PART_NODE_NAME: pod->node_name += "changed"; return;
    case BERTH_PART_NODE_SELECTION:
      pod->NodeSelector("berth.test/added", "added").PreferredNodeAffinity(100, foreign);
      return;
    case BERTH_PART_POD_AFFINITY:
      pod->PodAffinity("berth.test/added", foreign)
          .PreferredPodAntiAffinity(100, "berth.test/added", {});
      return;
    case BERTH_PART_TOLERATIONS: pod->TolerateKey(""); return;
    case BERTH_PART_SPREAD: pod->Spread(1, "berth.test/added", foreign); return;
    case BERTH_PART_REQUESTS: ChangeRequests(pod); return;
    case BERTH_PART_CONTAINERS: ChangeContainers(pod); return;
    case BERTH_PART_PORTS: ChangePorts(pod); return;
    case BERTH_PART_IMAGES: ChangeImages(pod); return;
    case BERTH_PART_VOLUMES: ChangeVolumes(pod); return;
    case BERTH_PART_GATES: pod->Gate("berth.test/added"); return;
    case BERTH_PART_CLAIMS: pod->Claim({"added", "added"}); return;
    case BERTH_PART_GROUP: pod->pod_group += "changed"; return;
    case BERTH_PART_RUNTIME: ChangeRuntime(pod); return;
    case BERTH_PART_NOMINATION: pod->nominated_node += "changed"; return;
    case BERTH_PART_STATUS:
      pod->Phase(pod->phase == BERTH_PHASE_PENDING ? BERTH_PHASE_FAILED : BERTH_PHASE_PENDING)
          .StartedNs(pod->started_ns + 1'000'000'007)
          .Condition({"berth.test/Added", BERTH_CONDITION_FALSE});
      return;
    case BERTH_PART_FIELDS: pod->Field("/berthTestAdded", "true"); return;
    default: Misuse("no part " + std::to_string(part));
  }
}

bool DifferIn(uint64_t parts, const PartHashes& a, const PartHashes& b) {
  for (size_t part = 0; part < a.size(); ++part) {
    if ((parts >> part & 1) != 0 && a[part] != b[part]) return true;
  }
  return false;
}

std::vector<Mutation> MutatePart(int part, const PodSpec& pod, std::span<const PodSpec> others) {
  std::vector<Mutation> mutations;
  const PartHashes before = HashParts(pod);
  const auto keep = [&](std::string how, PodSpec changed) {
    const PartHashes after = HashParts(changed);
    if (after[static_cast<size_t>(part)] == before[static_cast<size_t>(part)]) return;
    mutations.push_back({std::move(how), std::move(changed), after});
  };
  PodSpec changed = pod;
  ChangePart(part, &changed);
  keep("changed", std::move(changed));
  PodSpec cleared = pod;
  CopyPart(part, MakePod("blank").Namespace("blank"), &cleared);
  keep("removed", std::move(cleared));
  for (const PodSpec& other : others) {
    PodSpec like_other = pod;
    CopyPart(part, other, &like_other);
    keep("as in pod " + other.ns + "/" + other.name, std::move(like_other));
  }
  return mutations;
}

PartHashes HashesOf(const berth_pod& pod) {
  PartHashes hashes{};
  for (uint32_t part = 0; part < hashes.size(); ++part) hashes[part] = Pod(pod).PartHash(part);
  return hashes;
}

const std::vector<Mutation>& MutatedPods::Of(int part) {
  std::optional<std::vector<Mutation>>& mutated = of_part_[static_cast<size_t>(part)];
  if (!mutated) mutated = MutatePart(part, pod_, others_);
  return *mutated;
}

}  // namespace berth::testing
