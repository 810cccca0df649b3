#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/siphash.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/requests.h>
#include <berth/testing/spec.h>

namespace berth::testing {
namespace {

class Hasher {
 public:
  void Put(std::string_view text) { hash_.Add(text); }
  void Put(const std::string& text) { Put(std::string_view(text)); }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void Put(Number number) { hash_.Add(static_cast<uint64_t>(number)); }
  template <class A, class B>
  void Put(const std::pair<A, B>& pair) {
    Put(pair.first);
    Put(pair.second);
  }
  template <class T>
  void Put(const std::vector<T>& list) {
    Put(list.size());
    for (const T& entry : list) Put(entry);
  }
  template <class K, class V>
  void Put(const std::map<K, V>& list) {
    Put(list.size());
    for (const auto& entry : list) Put(entry);
  }
  template <class T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }
  void Put(const RequirementSpec& r) { PutAll(r.key, r.op, r.values, r.number); }
  void Put(const SelectorSpec& s) { PutAll(s.requirements, s.invalid); }
  void Put(const NodeTermSpec& t) { PutAll(t.expressions, t.fields, t.weight, t.invalid); }
  void Put(const PodTermSpec& t);
  void Put(const TolerationSpec& t) { PutAll(t.key, t.value, t.op, t.effect, t.seconds); }
  void Put(const SpreadSpec& s);
  void Put(const PortSpec& p) { PutAll(p.container_port, p.host_port, p.protocol, p.host_ip); }
  void Put(const VolumeSpec& v) { PutAll(v.name, v.kind, v.source, v.pool, v.hosts, v.read_only); }
  void Put(const ResourceClaimSpec& c);
  void Put(const ConditionSpec& c) { PutAll(c.type, c.status, c.reason, c.transition_ns); }
  void Put(const OwnerSpec& o) { PutAll(o.kind, o.name, o.uid, o.api_version, o.controller); }

  template <class... T>
  void PutAll(const T&... values) {
    (Put(values), ...);
  }
  // Must not: be called twice.
  uint64_t Finish() { return hash_.Finish(); }

 private:
  SipHash13 hash_{kHashKey};
};

template <class... T>
uint64_t HashOf(const T&... values) {
  Hasher hasher;
  hasher.PutAll(values...);
  return hasher.Finish();
}

// Hashes `get` of every container, init containers first.
template <class Get>
uint64_t HashOfContainers(const PodSpec& pod, Get get) {
  Hasher hasher;
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    hasher.Put(list->size());
    for (const ContainerSpec& container : *list) get(container, &hasher);
  }
  return hasher.Finish();
}

void Hasher::Put(const PodTermSpec& t) {
  PutAll(t.topology_key, t.selector, t.namespace_selector, t.namespaces, t.weight);
}

void Hasher::Put(const SpreadSpec& s) {
  PutAll(s.topology_key, s.selector, s.max_skew, s.min_domains, s.when_unsatisfiable,
         s.node_affinity_policy, s.node_taints_policy);
}

void Hasher::Put(const ResourceClaimSpec& c) {
  PutAll(c.name, c.claim_name, c.template_name, c.not_needed);
}

}  // namespace

std::string VolumeSource(const PodSpec& pod, const VolumeSpec& volume) {
  const bool generated = volume.kind == BERTH_VOLUME_EPHEMERAL && volume.source.empty();
  return generated ? pod.name + "-" + volume.name : volume.source;
}

PartHashes HashParts(const PodSpec& pod) {
  const RequestOptions of_containers{
      .default_cpu = true, .default_memory = true, .pod_level = false};
  std::vector<std::string> sources;
  for (const VolumeSpec& volume : pod.volumes) sources.push_back(VolumeSource(pod, volume));

  PartHashes hashes{};
  hashes[BERTH_PART_IDENTITY] = HashOf(pod.name, pod.uid, pod.resource_version);
  hashes[BERTH_PART_NAMESPACE] = HashOf(pod.ns);
  hashes[BERTH_PART_LABELS] = HashOf(pod.labels);
  hashes[BERTH_PART_ANNOTATIONS] = HashOf(pod.annotations);
  hashes[BERTH_PART_OWNERS] = HashOf(pod.owners);
  hashes[BERTH_PART_TIMES] = HashOf(pod.created_ns, pod.deleted_ns);
  hashes[BERTH_PART_PRIORITY] = HashOf(pod.priority, pod.priority_class, pod.preemption_policy);
  hashes[BERTH_PART_SCHEDULER_NAME] = HashOf(pod.scheduler_name);
  hashes[BERTH_PART_NODE_NAME] = HashOf(pod.node_name);
  hashes[BERTH_PART_NODE_SELECTION] =
      HashOf(pod.node_selector, pod.required_node_terms, pod.preferred_node_terms);
  // Terms without namespaces apply to the pod's own namespace, which PART_NAMESPACE covers.
  hashes[BERTH_PART_POD_AFFINITY] =
      HashOf(pod.required_pod_terms, pod.preferred_pod_terms, pod.required_pod_anti_terms,
             pod.preferred_pod_anti_terms);
  hashes[BERTH_PART_TOLERATIONS] = HashOf(pod.tolerations);
  hashes[BERTH_PART_SPREAD] = HashOf(pod.spreads);
  hashes[BERTH_PART_REQUESTS] = HashOf(PodRequest(pod, {}), PodRequest(pod, of_containers),
                                       PodRequest(pod, {.allocated = true}), NonzeroRequest(pod));
  hashes[BERTH_PART_CONTAINERS] =
      HashOf(HashOfContainers(pod,
                              [](const ContainerSpec& c, Hasher* hasher) {
                                hasher->PutAll(c.name, c.sidecar, c.restarts_all, c.requests,
                                               c.limits, c.allocated);
                              }),
             pod.overhead, pod.pod_requests);
  hashes[BERTH_PART_PORTS] = HashOfContainers(
      pod, [](const ContainerSpec& c, Hasher* hasher) { hasher->PutAll(c.ports, c.sidecar); });
  hashes[BERTH_PART_IMAGES] =
      HashOfContainers(pod, [](const ContainerSpec& c, Hasher* hasher) { hasher->Put(c.image); });
  hashes[BERTH_PART_VOLUMES] = HashOf(pod.volumes, sources);
  hashes[BERTH_PART_GATES] = HashOf(pod.gates);
  hashes[BERTH_PART_CLAIMS] = HashOf(pod.claims);
  hashes[BERTH_PART_GROUP] = HashOf(pod.pod_group);
  hashes[BERTH_PART_RUNTIME] = HashOf(pod.os, pod.runtime_class, pod.host_network, pod.host_users,
                                      pod.bind_mount_options, pod.restart_policy);
  hashes[BERTH_PART_NOMINATION] = HashOf(pod.nominated_node);
  hashes[BERTH_PART_STATUS] = HashOf(pod.phase, pod.conditions, pod.started_ns);
  hashes[BERTH_PART_FIELDS] = HashOf(pod.fields);
  return hashes;
}

}  // namespace berth::testing
