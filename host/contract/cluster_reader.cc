#include "host/contract/cluster_reader.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <berth/testing/attempt.h>
#include <berth/testing/requests.h>

#include "host/api/decode.h"
#include "host/api/manifest.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/plan/plan.h"

namespace berth::host {
namespace {

using testing::NodeSpec;
using testing::PodSpec;

std::string Copy(berth_str text) { return std::string(Text(text)); }

// Converts the parts of one object, whose ids belong to its interner.
class SpecMaker {
 public:
  explicit SpecMaker(const ObjectBase& object) : object_(object) {}

  template <class Spec>
  void FillMeta(Spec& spec) const {
    const berth_meta& meta = object_.meta();
    spec.name = Copy(meta.name);
    spec.ns = Name(meta.ns);
    spec.uid = Copy(meta.uid);
    if (spec.uid.empty()) spec.uid = "uid-" + object_.Key();
    if (meta.resource_version.len != 0) spec.resource_version = Copy(meta.resource_version);
    spec.generation = meta.generation;
    spec.created_ns = meta.created_ns;
    spec.deleted_ns = meta.deleted_ns;
    for (const auto& label : Elements<berth_id_pair>(meta.labels)) {
      spec.Label(Name(label.key), Name(label.value));
    }
    for (const auto& pair : Elements<berth_str_pair>(meta.annotations)) {
      spec.Annotation(Copy(pair.key), Copy(pair.value));
    }
    for (const auto& owner : Elements<berth_owner>(meta.owners)) {
      spec.Owner({Name(owner.kind), Copy(owner.name), Copy(owner.uid), Name(owner.api_version),
                  owner.controller != 0});
    }
    for (const auto& field : Elements<berth_field>(meta.fields)) {
      spec.Field(Copy(field.path),
                 field.value == nullptr ? std::string() : DumpJson(ToJson(field.value)));
    }
  }

  std::string Name(Id id) const { return std::string(object_.Name(id)); }

  std::vector<std::string> Names(const berth_array& ids) const {
    std::vector<std::string> names;
    for (const berth_id id : Elements<berth_id>(ids)) names.push_back(Name(id));
    return names;
  }

  testing::Amounts Amounts(const berth_resources& resources) const {
    testing::Amounts amounts;
    if ((resources.present & BERTH_PRESENT_CPU) != 0) amounts["cpu"] = resources.milli_cpu;
    if ((resources.present & BERTH_PRESENT_MEMORY) != 0) amounts["memory"] = resources.memory;
    if ((resources.present & BERTH_PRESENT_EPHEMERAL_STORAGE) != 0) {
      amounts["ephemeral-storage"] = resources.ephemeral_storage;
    }
    if ((resources.present & BERTH_PRESENT_PODS) != 0) amounts["pods"] = resources.pods;
    for (const auto& scalar : Elements<berth_quantity>(resources.scalars)) {
      amounts[Name(scalar.name)] = scalar.value;
    }
    return amounts;
  }

  std::vector<testing::ConditionSpec> Conditions(const berth_array& conditions) const {
    std::vector<testing::ConditionSpec> specs;
    for (const auto& c : Elements<berth_condition>(conditions)) {
      specs.push_back({Name(c.type), c.status, Name(c.reason), c.transition_ns});
    }
    return specs;
  }

  testing::Requirements Requirements(const berth_array& requirements) const {
    testing::Requirements specs;
    for (const auto& r : Elements<berth_requirement>(requirements)) {
      specs.push_back({Name(r.key), r.op, Names(r.values), r.number});
    }
    return specs;
  }

  std::optional<testing::SelectorSpec> Selector(const berth_selector* selector) const {
    if (selector == nullptr) return std::nullopt;
    return testing::SelectorSpec{Requirements(selector->requirements),
                                 (selector->flags & BERTH_SELECTOR_INVALID) != 0};
  }

  std::vector<testing::NodeTermSpec> NodeTerms(const berth_array& terms) const {
    std::vector<testing::NodeTermSpec> specs;
    for (const auto& term : Elements<berth_node_term>(terms)) {
      specs.push_back({Requirements(term.expressions), Requirements(term.fields), term.weight,
                       (term.flags & BERTH_SELECTOR_INVALID) != 0});
    }
    return specs;
  }

  std::vector<testing::PodTermSpec> PodTerms(const berth_array& terms) const {
    std::vector<testing::PodTermSpec> specs;
    for (const auto& term : Elements<berth_pod_term>(terms)) {
      specs.push_back({Name(term.topology_key), Selector(term.selector),
                       Selector(term.namespace_selector), Names(term.namespaces), term.weight});
    }
    return specs;
  }

  std::vector<testing::ContainerSpec> Containers(const berth_array& containers) const {
    std::vector<testing::ContainerSpec> specs;
    for (const auto& c : Elements<berth_container>(containers)) {
      testing::ContainerSpec spec{Copy(c.name), Name(c.image),
                                  (c.flags & BERTH_CONTAINER_SIDECAR) != 0};
      spec.requests = Amounts(*c.requests);
      spec.limits = Amounts(*c.limits);
      for (const auto& port : Elements<berth_port>(c.ports)) {
        spec.ports.push_back(
            {port.container_port, port.host_port, port.protocol, Name(port.host_ip)});
      }
      spec.restarts_all = (c.flags & BERTH_CONTAINER_RESTARTS_ALL) != 0;
      specs.push_back(std::move(spec));
    }
    return specs;
  }

  std::vector<testing::VolumeSpec> Volumes(const berth_array& volumes) const {
    std::vector<testing::VolumeSpec> specs;
    for (const auto& v : Elements<berth_volume>(volumes)) {
      testing::VolumeSpec spec{Copy(v.name), v.kind, Copy(v.source), Copy(v.pool)};
      for (const auto& host : Elements<berth_str>(v.hosts)) spec.hosts.push_back(Copy(host));
      spec.read_only = (v.flags & BERTH_VOLUME_FLAG_READ_ONLY) != 0;
      specs.push_back(std::move(spec));
    }
    return specs;
  }

 private:
  const ObjectBase& object_;
};

void FillScalars(const berth_pod& view, const SpecMaker& make, testing::PodSpec& spec) {
  spec.scheduler_name = make.Name(view.scheduler_name);
  spec.node_name = make.Name(view.node_name);
  if ((view.flags & BERTH_POD_HAS_PRIORITY) != 0) spec.priority = view.priority;
  spec.priority_class = make.Name(view.priority_class);
  spec.preemption_policy = view.preemption_policy;
  spec.runtime_class = make.Name(view.runtime_class);
  spec.os = make.Name(view.os);
  spec.host_network = (view.flags & BERTH_POD_HOST_NETWORK) != 0;
  spec.host_users = (view.flags & BERTH_POD_HOST_USERS_FALSE) == 0;
  spec.bind_mount_options = (view.flags & BERTH_POD_HAS_BIND_MOUNT_OPTIONS) != 0;
  spec.restart_policy = view.restart_policy;
  spec.pod_group = Copy(view.pod_group);
  spec.nominated_node = make.Name(view.nominated_node);
  if (view.phase != 0) spec.phase = view.phase;
  spec.started_ns = view.started_ns;
}

void FillConstraints(const berth_pod& view, const SpecMaker& make, testing::PodSpec& spec) {
  for (const auto& pair : Elements<berth_id_pair>(view.node_selector)) {
    spec.NodeSelector(make.Name(pair.key), make.Name(pair.value));
  }
  const berth_affinity& affinity = *view.affinity;
  if (affinity.has_required_node_terms != 0) {
    spec.required_node_terms = make.NodeTerms(affinity.required_node_terms);
  }
  spec.preferred_node_terms = make.NodeTerms(affinity.preferred_node_terms);
  spec.required_pod_terms = make.PodTerms(affinity.required_pod_terms);
  spec.preferred_pod_terms = make.PodTerms(affinity.preferred_pod_terms);
  spec.required_pod_anti_terms = make.PodTerms(affinity.required_pod_anti_terms);
  spec.preferred_pod_anti_terms = make.PodTerms(affinity.preferred_pod_anti_terms);
  for (const auto& t : Elements<berth_toleration>(view.tolerations)) {
    spec.Toleration({make.Name(t.key), make.Name(t.value), t.op, t.effect, t.seconds});
  }
  for (const auto& s : Elements<berth_spread>(view.spreads)) {
    spec.Spread({make.Name(s.topology_key), make.Selector(s.selector), s.max_skew, s.min_domains,
                 s.when_unsatisfiable, s.node_affinity_policy, s.node_taints_policy});
  }
}

int64_t AmountOf(const std::string& name, const testing::Amounts& amounts) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

// Returns the first container that requests the resource, or the first one if none does.
testing::ContainerSpec& ContainerWith(const std::string& name, testing::PodSpec& spec) {
  const auto found = std::ranges::find_if(
      spec.containers,
      [&name](const testing::ContainerSpec& c) { return c.requests.contains(name); });
  return found == spec.containers.end() ? spec.containers.front() : *found;
}

// The view has only the sums of what the pod itself requests and of a resize in progress; the test
// kit computes the same sums from these amounts.
void FillRequests(const berth_pod& view, const SpecMaker& make, testing::PodSpec& spec) {
  spec.overhead = make.Amounts(*view.overhead);
  if ((view.flags & BERTH_POD_HAS_POD_LEVEL_REQUESTS) != 0) {
    for (const auto& [name, amount] : make.Amounts(*view.request)) {
      if (!testing::internal::IsPodLevelResource(name)) continue;
      spec.pod_requests[name] = amount - AmountOf(name, spec.overhead);
    }
  }
  if (spec.containers.empty()) return;
  const testing::Amounts request = make.Amounts(*view.request);
  for (const auto& [name, amount] : make.Amounts(*view.accounted)) {
    const int64_t more = amount - AmountOf(name, request);
    if (more <= 0) continue;
    testing::ContainerSpec& container = ContainerWith(name, spec);
    container.allocated[name] = AmountOf(name, container.requests) + more;
  }
}

// ---- Clusters -----------------------------------------------------------------------------------

// Returns at most `most` elements, evenly distributed over all.
template <class T>
std::vector<T> Sample(const std::vector<T>& all, size_t most) {
  std::vector<uint32_t> indices(all.size());
  for (size_t i = 0; i < all.size(); ++i) indices[i] = static_cast<uint32_t>(i);
  std::vector<T> sample;
  for (const uint32_t i : testing::SampleRows(indices, most)) sample.push_back(all[i]);
  return sample;
}

bool IsFinished(const PodSpec& pod) {
  return pod.phase == BERTH_PHASE_SUCCEEDED || pod.phase == BERTH_PHASE_FAILED;
}

// Returns a pod like `pod` that waits for a node.
PodSpec Waiting(const PodSpec& pod) {
  PodSpec waiting = testing::CopyOf(pod, "", "again");
  waiting.nominated_node.clear();
  waiting.started_ns = 0;
  waiting.conditions.clear();
  waiting.deleted_ns = 0;
  for (auto* containers : {&waiting.containers, &waiting.init_containers}) {
    for (testing::ContainerSpec& container : *containers) container.allocated.clear();
  }
  return waiting.Phase(BERTH_PHASE_PENDING);
}

// All objects of the manifests.
class Collector {
 public:
  explicit Collector(const ClusterParts& parts) : parts_(parts) {}

  Status Add(const AnyObject& object) {
    if (Status status = cluster_.Load(object); !status.ok()) return status;
    if (const auto* node = std::get_if<NodeRef>(&object)) {
      nodes_.push_back(SpecOf(**node));
    } else if (const auto* pod = std::get_if<PodRef>(&object)) {
      PodSpec spec = SpecOf(**pod);
      if (IsFinished(spec)) return {};
      if (spec.node_name.empty()) {
        if (spec.deleted_ns != 0) return {};  // The scheduler does not schedule it.
        waiting_.push_back(std::move(spec));
      } else {
        running_[spec.node_name].push_back(std::move(spec));
      }
    } else {
      const Object& other = **std::get_if<ObjectRef>(&object);
      if (parts_.kinds.contains(std::string(other.kind()))) objects_.push_back(SpecOf(other));
    }
    return {};
  }

  Result<ContractCluster> Take() {
    ContractCluster cluster;
    cluster.nodes = Sample(nodes_, kMaxClusterNodes);
    cluster.nodes_of = static_cast<int>(nodes_.size());
    std::vector<PodSpec> copies;
    for (NodeSpec& node : cluster.nodes) {
      for (PodSpec& pod : Sample(running_[node.name], kMaxPodsOnNode)) {
        copies.push_back(Waiting(pod));
        node.Pod(std::move(pod));
      }
    }
    cluster.pods = Sample(waiting_, kMaxClusterPods);
    for (PodSpec& pod : Sample(copies, kMaxClusterPods)) {
      if (cluster.pods.size() < kMaxClusterPods) cluster.pods.push_back(std::move(pod));
    }
    cluster.objects = std::move(objects_);
    if (!cluster.nodes.empty() && !cluster.pods.empty()) return cluster;
    return Status::InvalidArgument("the cluster: expected at least one node and one pod, found " +
                                   std::to_string(cluster.nodes.size()) + " nodes and " +
                                   std::to_string(cluster.pods.size()) + " pods");
  }

 private:
  const ClusterParts& parts_;
  const VirtualClock clock_{0};
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 0, .serve = nullptr}};
  std::vector<NodeSpec> nodes_;
  std::vector<PodSpec> waiting_;
  std::map<std::string, std::vector<PodSpec>> running_;  // By node.
  std::vector<testing::ObjectSpec> objects_;
};

}  // namespace

testing::PodSpec SpecOf(const Pod& pod) {
  const berth_pod& view = pod.view();
  const SpecMaker make(pod);
  testing::PodSpec spec;
  make.FillMeta(spec);
  FillScalars(view, make, spec);
  FillConstraints(view, make, spec);
  spec.containers = make.Containers(view.containers);
  spec.init_containers = make.Containers(view.init_containers);
  spec.volumes = make.Volumes(view.volumes);
  for (const auto& gate : Elements<berth_str>(view.scheduling_gates)) spec.Gate(Copy(gate));
  for (const auto& c : Elements<berth_resource_claim>(view.resource_claims)) {
    spec.Claim({Copy(c.name), Copy(c.claim_name), Copy(c.template_name),
                (c.flags & BERTH_CLAIM_NOT_NEEDED) != 0});
  }
  spec.conditions = make.Conditions(view.conditions);
  FillRequests(view, make, spec);
  return spec;
}

testing::NodeSpec SpecOf(const Node& node) {
  const berth_node& view = node.view();
  const SpecMaker make(node);
  testing::NodeSpec spec;
  make.FillMeta(spec);
  spec.unschedulable = view.unschedulable != 0;
  for (const auto& taint : Elements<berth_taint>(view.taints)) {
    spec.Taint(make.Name(taint.key), make.Name(taint.value), taint.effect);
  }
  spec.allocatable = make.Amounts(*view.allocatable);
  spec.capacity = make.Amounts(*view.capacity);
  spec.conditions = make.Conditions(view.conditions);
  for (const auto& image : Elements<berth_image>(view.images)) {
    spec.images.push_back({make.Names(image.names), image.size});
  }
  spec.declared_features = make.Names(view.declared_features);
  return spec;
}

testing::ObjectSpec SpecOf(const Object& object) {
  testing::ObjectSpec spec;
  SpecMaker(object).FillMeta(spec);
  spec.kind = object.kind();
  spec.json = DumpJson(ToJson(object));
  return spec;
}

Result<ContractCluster> ReadContractCluster(std::span<const ClusterManifest> manifests,
                                            const ClusterParts& parts) {
  Interner interner;
  Decoder decoder(interner, DecodeOptionsFor(parts.fields, parts.emulated_version));
  Collector collector(parts);
  for (const ClusterManifest& manifest : manifests) {
    Status status = ReadManifest(
        manifest.text, manifest.name, decoder,
        [&](const AnyObject& object, std::string_view) { return collector.Add(object); });
    if (!status.ok()) return status;
  }
  return collector.Take();
}

}  // namespace berth::host
