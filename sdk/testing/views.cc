#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/field_tree.h>
#include <berth/testing/ids.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/requests.h>
#include <berth/testing/spec.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing {
namespace internal {

const berth_value* ViewMemory::Value(ValueSpec value) {
  return values_.emplace_back(std::make_unique<ValueSpec>(std::move(value))).get();
}

berth_str ViewMemory::Text(std::string_view text) {
  if (text.empty()) return {nullptr, 0};
  return {Copy(text.data(), text.size()), text.size()};
}

}  // namespace internal

namespace {

uint32_t BitIf(bool set, uint32_t bit) { return set ? bit : 0; }

// Builds the parts that pods and nodes have in common.
class ViewBuilder {
 public:
  explicit ViewBuilder(internal::ViewMemory* memory) : memory_(*memory) {}

  // Returns every entry of `list`, converted by `convert`.
  template <class List, class Convert>
  berth_array Each(const List& list, Convert convert) {
    std::vector<decltype(convert(*list.begin()))> out;
    out.reserve(list.size());
    for (const auto& entry : list) out.push_back(convert(entry));
    return memory_.Array(out);
  }

  berth_array SortedPairs(const std::map<std::string, std::string>& map);

  berth_array IdList(const std::vector<std::string>& texts);

  // Returns the parts that the plugin names for objects of the kind. `kind`: "Pod:".
  berth_array Fields(std::string_view kind,
                     const std::vector<std::pair<std::string, std::string>>& fields) {
    const auto& declared = memory_.ids().fields();
    if (fields.empty() && (!declared.has_value() || declared->empty())) {
      return {nullptr, 0, sizeof(berth_field)};
    }
    const FieldTree tree(fields);
    std::vector<std::string> paths;
    if (declared.has_value()) {
      for (const std::string& field : *declared) {
        if (field.starts_with(kind)) paths.push_back(field.substr(kind.size()));
      }
    } else {
      paths = tree.Paths();
    }
    return Each(paths, [&](const std::string& path) {
      const ValueSpec* part = tree.Find(path);
      return berth_field{Text(path), part == nullptr ? nullptr : memory_.Value(*part)};
    });
  }

  template <class Spec>
  const berth_meta* Meta(const Spec& spec) {
    berth_meta meta{};
    meta.struct_size = sizeof meta;
    meta.ns = IdOrNone(spec.ns);
    meta.name = Text(spec.name);
    meta.uid = Text(spec.uid);
    meta.resource_version = Text(spec.resource_version);
    meta.generation = spec.generation;
    meta.created_ns = spec.created_ns;
    meta.deleted_ns = spec.deleted_ns;
    meta.labels = SortedPairs(spec.labels);
    const auto text_pair = [this](const auto& pair) {
      return berth_str_pair{Text(pair.first), Text(pair.second)};
    };
    // Sorted; the last one of equal keys counts.
    std::map<std::string, std::string> annotations;
    for (const auto& [key, value] : spec.annotations) annotations[key] = value;
    meta.annotations = Each(annotations, text_pair);
    meta.owners = Each(spec.owners, [this](const OwnerSpec& owner) {
      return berth_owner{Text(owner.name),           Text(owner.uid),
                         Id(owner.api_version),      Id(owner.kind),
                         owner.controller ? 1u : 0u, 0};
    });
    if constexpr (std::same_as<Spec, PodSpec>) meta.fields = Fields("Pod:", spec.fields);
    if constexpr (std::same_as<Spec, NodeSpec>) meta.fields = Fields("Node:", spec.fields);
    return memory_.One(meta);
  }

  const berth_resources* Resources(const Amounts& amounts);

  berth_array Conditions(const std::vector<ConditionSpec>& conditions);

  berth_array RequirementList(const Requirements& requirements);

  const berth_selector* Selector(const std::optional<SelectorSpec>& selector);

  berth_id Id(std::string_view text) { return memory_.Intern(text); }
  // Returns 0 for the empty text, which means that an object does not have the value.
  berth_id IdOrNone(std::string_view text) { return text.empty() ? 0 : Id(text); }
  berth_str Text(std::string_view text) { return memory_.Text(text); }
  internal::ViewMemory& memory() { return memory_; }

 private:
  internal::ViewMemory& memory_;
};

class PodViewBuilder : public ViewBuilder {
 public:
  using ViewBuilder::ViewBuilder;

  berth_pod Build(const PodSpec& spec);

 private:
  void SetScalars(const PodSpec& spec, berth_pod* pod);

  void SetRequests(const PodSpec& spec, berth_pod* pod);

  berth_port Port(const PortSpec& port);

  berth_container Container(const ContainerSpec& spec);

  berth_array Volumes(const PodSpec& spec);

  const berth_affinity* Affinity(const PodSpec& spec);
};

class NodeViewBuilder : public ViewBuilder {
 public:
  using ViewBuilder::ViewBuilder;

  berth_node Build(const NodeSpec& spec);
};

class ObjectViewBuilder : public ViewBuilder {
 public:
  using ViewBuilder::ViewBuilder;

  berth_object Build(const ObjectSpec& spec);
};

berth_array ViewBuilder::SortedPairs(const std::map<std::string, std::string>& map) {
  std::vector<berth_id_pair> pairs;
  pairs.reserve(map.size());
  for (const auto& [key, value] : map) pairs.push_back({Id(key), Id(value)});
  std::sort(pairs.begin(), pairs.end(), [](auto a, auto b) { return a.key < b.key; });
  return memory_.Array(pairs);
}

berth_array ViewBuilder::IdList(const std::vector<std::string>& texts) {
  return Each(texts, [this](const std::string& text) { return Id(text); });
}

const berth_resources* ViewBuilder::Resources(const Amounts& amounts) {
  berth_resources out{};
  out.struct_size = sizeof out;
  std::vector<berth_quantity> scalars;
  for (const auto& [name, value] : amounts) {
    if (name == "cpu") {
      out.milli_cpu = value;
      out.present |= BERTH_PRESENT_CPU;
    } else if (name == "memory") {
      out.memory = value;
      out.present |= BERTH_PRESENT_MEMORY;
    } else if (name == "ephemeral-storage") {
      out.ephemeral_storage = value;
      out.present |= BERTH_PRESENT_EPHEMERAL_STORAGE;
    } else if (name == "pods") {
      out.pods = value;
      out.present |= BERTH_PRESENT_PODS;
    } else {
      scalars.push_back({Id(name), 0, value});
    }
  }
  std::sort(scalars.begin(), scalars.end(), [](auto a, auto b) { return a.name < b.name; });
  out.scalars = memory_.Array(scalars);
  return memory_.One(out);
}

berth_array ViewBuilder::Conditions(const std::vector<ConditionSpec>& conditions) {
  return Each(conditions, [this](const ConditionSpec& c) {
    return berth_condition{Id(c.type), IdOrNone(c.reason), c.status, 0, c.transition_ns};
  });
}

berth_array ViewBuilder::RequirementList(const Requirements& requirements) {
  return Each(requirements, [this](const RequirementSpec& r) {
    return berth_requirement{Id(r.key), r.op, IdList(r.values), r.number};
  });
}

const berth_selector* ViewBuilder::Selector(const std::optional<SelectorSpec>& selector) {
  if (!selector) return nullptr;
  berth_selector out{};
  out.struct_size = sizeof out;
  out.flags = BitIf(selector->invalid, BERTH_SELECTOR_INVALID);
  out.requirements = RequirementList(selector->requirements);
  return memory_.One(out);
}

// Image names without a tag mean ":latest" (pkg/scheduler/framework/plugins/imagelocality,
// normalizedImageName).
std::string NormalImageName(const std::string& name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return tagged ? name : name + ":latest";
}

berth_pod PodViewBuilder::Build(const PodSpec& spec) {
  berth_pod pod{};
  pod.struct_size = sizeof pod;
  pod.flags = BitIf(spec.priority.has_value(), BERTH_POD_HAS_PRIORITY) |
              BitIf(spec.host_network, BERTH_POD_HOST_NETWORK) |
              BitIf(!spec.host_users, BERTH_POD_HOST_USERS_FALSE) |
              BitIf(HasPodLevelRequests(spec), BERTH_POD_HAS_POD_LEVEL_REQUESTS) |
              BitIf(spec.bind_mount_options, BERTH_POD_HAS_BIND_MOUNT_OPTIONS);
  pod.meta = Meta(spec);
  SetScalars(spec, &pod);
  pod.node_selector = SortedPairs(spec.node_selector);
  pod.affinity = Affinity(spec);
  pod.tolerations = Each(spec.tolerations, [this](const TolerationSpec& t) {
    return berth_toleration{IdOrNone(t.key), Id(t.value), t.op, t.effect, t.seconds};
  });
  pod.spreads = Each(spec.spreads, [this](const SpreadSpec& s) {
    return berth_spread{Selector(s.selector), Id(s.topology_key),   s.max_skew,
                        s.min_domains,        s.when_unsatisfiable, s.node_affinity_policy,
                        s.node_taints_policy};
  });
  const auto container = [this](const ContainerSpec& c) { return Container(c); };
  pod.containers = Each(spec.containers, container);
  pod.init_containers = Each(spec.init_containers, container);
  pod.volumes = Volumes(spec);
  pod.scheduling_gates = Each(spec.gates, [this](const std::string& gate) { return Text(gate); });
  pod.resource_claims = Each(spec.claims, [this](const ResourceClaimSpec& c) {
    return berth_resource_claim{Text(c.name), Text(c.claim_name), Text(c.template_name),
                                BitIf(c.not_needed, BERTH_CLAIM_NOT_NEEDED), 0};
  });
  SetRequests(spec, &pod);
  pod.conditions = Conditions(spec.conditions);
  const PartHashes hashes = HashParts(spec);
  const auto others = hashes.begin() + BERTH_OWN_PARTS;
  pod.own_part_hashes = memory().Array(std::vector<uint64_t>(hashes.begin(), others));
  pod.part_hashes = memory().Array(std::vector<uint64_t>(others, hashes.end()));
  return pod;
}

void PodViewBuilder::SetScalars(const PodSpec& spec, berth_pod* pod) {
  pod->scheduler_name = IdOrNone(spec.scheduler_name);
  pod->node_name = IdOrNone(spec.node_name);
  pod->priority = spec.priority.value_or(0);
  pod->preemption_policy = spec.preemption_policy;
  pod->priority_class = IdOrNone(spec.priority_class);
  pod->runtime_class = IdOrNone(spec.runtime_class);
  pod->os = IdOrNone(spec.os);
  pod->restart_policy = spec.restart_policy;
  pod->pod_group = Text(spec.pod_group);
  pod->nominated_node = IdOrNone(spec.nominated_node);
  pod->phase = spec.phase;
  pod->started_ns = spec.started_ns;
}

void PodViewBuilder::SetRequests(const PodSpec& spec, berth_pod* pod) {
  pod->request = Resources(PodRequest(spec, {}));
  pod->request_of_containers = Resources(
      PodRequest(spec, {.default_cpu = true, .default_memory = true, .pod_level = false}));
  pod->accounted = Resources(PodRequest(spec, {.allocated = true}));
  Amounts nonzero = NonzeroRequest(spec);
  pod->nonzero_milli_cpu = nonzero["cpu"];
  pod->nonzero_memory = nonzero["memory"];
  pod->overhead = Resources(spec.overhead);
  std::vector<berth_port> ports;
  for (const auto* list : {&spec.containers, &spec.init_containers}) {
    for (const ContainerSpec& c : *list) {
      if (list == &spec.init_containers && !c.sidecar) continue;
      for (const PortSpec& port : c.ports) {
        if (port.host_port > 0) ports.push_back(Port(port));
      }
    }
  }
  pod->host_ports = memory().Array(ports);
}

berth_port PodViewBuilder::Port(const PortSpec& port) {
  return {port.protocol, port.container_port, port.host_port, IdOrNone(port.host_ip)};
}

berth_container PodViewBuilder::Container(const ContainerSpec& spec) {
  berth_container out{};
  out.name = Text(spec.name);
  if (!spec.image.empty()) {
    out.image = Id(spec.image);
    out.image_normal = Id(NormalImageName(spec.image));
  }
  out.flags = BitIf(spec.sidecar, BERTH_CONTAINER_SIDECAR) |
              BitIf(spec.restarts_all, BERTH_CONTAINER_RESTARTS_ALL);
  out.requests = Resources(spec.requests);
  out.limits = Resources(spec.limits);
  out.ports = Each(spec.ports, [this](const PortSpec& port) { return Port(port); });
  return out;
}

berth_array PodViewBuilder::Volumes(const PodSpec& spec) {
  return Each(spec.volumes, [&](const VolumeSpec& v) {
    return berth_volume{Text(v.name),
                        v.kind,
                        BitIf(v.read_only, BERTH_VOLUME_FLAG_READ_ONLY),
                        Text(VolumeSource(spec, v)),
                        Text(v.pool),
                        Each(v.hosts, [this](const std::string& host) { return Text(host); })};
  });
}

const berth_affinity* PodViewBuilder::Affinity(const PodSpec& spec) {
  const auto node_term = [this](const NodeTermSpec& t) {
    return berth_node_term{BitIf(t.invalid, BERTH_SELECTOR_INVALID), t.weight,
                           RequirementList(t.expressions), RequirementList(t.fields)};
  };
  const auto pod_term = [&](const PodTermSpec& t) {
    const bool own = t.namespaces.empty() && !t.namespace_selector;
    return berth_pod_term{Selector(t.selector), Selector(t.namespace_selector),
                          IdList(own ? std::vector<std::string>{spec.ns} : t.namespaces),
                          Id(t.topology_key), t.weight};
  };
  berth_affinity out{};
  out.struct_size = sizeof out;
  out.has_required_node_terms = spec.required_node_terms ? 1 : 0;
  if (spec.required_node_terms) {
    out.required_node_terms = Each(*spec.required_node_terms, node_term);
  }
  out.preferred_node_terms = Each(spec.preferred_node_terms, node_term);
  out.required_pod_terms = Each(spec.required_pod_terms, pod_term);
  out.preferred_pod_terms = Each(spec.preferred_pod_terms, pod_term);
  out.required_pod_anti_terms = Each(spec.required_pod_anti_terms, pod_term);
  out.preferred_pod_anti_terms = Each(spec.preferred_pod_anti_terms, pod_term);
  return memory().One(out);
}

berth_node NodeViewBuilder::Build(const NodeSpec& spec) {
  berth_node node{};
  node.struct_size = sizeof node;
  node.unschedulable = spec.unschedulable ? 1 : 0;
  node.meta = Meta(spec);
  node.name = Id(spec.name);
  node.taints = Each(spec.taints, [this](const TaintSpec& t) {
    return berth_taint{Id(t.key), Id(t.value), t.effect, 0};
  });
  Amounts capacity = spec.capacity;
  capacity.insert(spec.allocatable.begin(), spec.allocatable.end());
  node.allocatable = Resources(spec.allocatable);
  node.capacity = Resources(capacity);
  node.conditions = Conditions(spec.conditions);
  node.images = Each(spec.images, [this](const ImageSpec& image) {
    return berth_image{IdList(image.names), image.size};
  });
  std::vector<berth_id> features;
  for (const std::string& feature : spec.declared_features) features.push_back(Id(feature));
  std::sort(features.begin(), features.end());
  node.declared_features = memory().Array(features);
  return node;
}

berth_object ObjectViewBuilder::Build(const ObjectSpec& spec) {
  return {sizeof(berth_object), Id(spec.kind), Meta(spec),
          memory().Value(internal::WholeObject(spec))};
}

berth_pod Build(const PodSpec& spec, internal::ViewMemory* memory) {
  return PodViewBuilder(memory).Build(spec);
}

berth_node Build(const NodeSpec& spec, internal::ViewMemory* memory) {
  return NodeViewBuilder(memory).Build(spec);
}

berth_object Build(const ObjectSpec& spec, internal::ViewMemory* memory) {
  return ObjectViewBuilder(memory).Build(spec);
}

uint32_t KindOf(const berth_pod& /*view*/) { return BERTH_KIND_POD; }
uint32_t KindOf(const berth_node& /*view*/) { return BERTH_KIND_NODE; }
uint32_t KindOf(const berth_object& /*view*/) { return BERTH_KIND_OBJECT; }

}  // namespace

template <class View, class Spec>
Handle<View, Spec>::Object::Object(Spec given, Ids& table)
    : spec(std::move(given)),
      ids(table),
      memory(&table),
      view(Build(spec, &memory)),
      version(table.views().NextVersion()) {}

template <class View, class Spec>
Handle<View, Spec>::Handle(Spec spec, Ids& ids)
    : object_(std::make_shared<Object>(std::move(spec), ids)) {
  ids.views().Add({KindOf(object_->view), 0, &object_->view}, object_);
}

template <class View, class Spec>
std::optional<Handle<View, Spec>> Handle<View, Spec>::Find(const View* view, Ids& ids) {
  if (view == nullptr) return std::nullopt;
  const std::shared_ptr<const void> owner = ids.views().Find({KindOf(*view), 0, view});
  if (owner == nullptr) return std::nullopt;
  return Handle(std::static_pointer_cast<const Object>(owner));
}

template class Handle<berth_pod, PodSpec>;
template class Handle<berth_node, NodeSpec>;
template class Handle<berth_object, ObjectSpec>;

}  // namespace berth::testing
