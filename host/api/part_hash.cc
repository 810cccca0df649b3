#include "host/api/part_hash.h"

#include <algorithm>
#include <span>
#include <string_view>

#include <berth/siphash.h>

#include "host/api/objects.h"
#include "host/api/value.h"

namespace berth::host {
namespace {

// Combines values into one hash. The length of each list is hashed before its elements, so that
// moving an element from the end of one list to the beginning of the next changes the hash.
class Hasher {
 public:
  explicit Hasher(const Interner& interner) : interner_(interner), hash_(interner.key()) {}

  // Must not: be called twice.
  uint64_t Finish() { return hash_.Finish(); }

  void Number(uint64_t number) { hash_.Add(number); }
  void Number(int64_t number) { Number(static_cast<uint64_t>(number)); }
  void Number(int32_t number) { Number(int64_t{number}); }
  void Number(uint32_t number) { Number(uint64_t{number}); }
  void Text(berth_str text) { hash_.Add(host::Text(text)); }
  void Tree(const berth_value* value) { AddValue(value, hash_); }
  // kNoId and the empty text have different hashes.
  void Name(Id id) { Number(interner_.Hash(id)); }

  template <class T, class Each>
  void List(const berth_array& array, Each each) {
    const auto elements = Elements<T>(array);
    Number(uint64_t{elements.size()});
    for (const T& element : elements) each(element);
  }

  void Names(const berth_array& ids) {
    List<Id>(ids, [this](Id id) { Name(id); });
  }

  // Hashes the pairs independently of their order. They are sorted by id, and a text may have
  // different ids at different times.
  void Pairs(const berth_array& pairs) {
    uint64_t sum = 0;
    for (const berth_id_pair& pair : Elements<berth_id_pair>(pairs)) {
      sum += PairHash(pair.key, interner_.Hash(pair.value));
    }
    Number(uint64_t{pairs.count});
    Number(sum);
  }

  void Resources(const berth_resources& resources) {
    Number(resources.present);
    Number(resources.milli_cpu);
    Number(resources.memory);
    Number(resources.ephemeral_storage);
    Number(resources.pods);
    uint64_t sum = 0;
    for (const berth_quantity& scalar : Elements<berth_quantity>(resources.scalars)) {
      sum += PairHash(scalar.name, static_cast<uint64_t>(scalar.value));
    }
    Number(uint64_t{resources.scalars.count});
    Number(sum);
  }

  void Requirements(const berth_array& requirements) {
    List<berth_requirement>(requirements, [this](const berth_requirement& requirement) {
      Name(requirement.key);
      Number(requirement.op);
      Names(requirement.values);
      Number(requirement.number);
    });
  }

  void Selector(const berth_selector* selector) {
    Number(uint32_t{selector != nullptr});
    if (selector == nullptr) return;
    Number(selector->flags);
    Requirements(selector->requirements);
  }

  void NodeTerms(const berth_array& terms) {
    List<berth_node_term>(terms, [this](const berth_node_term& term) {
      Number(term.flags);
      Number(term.weight);
      Requirements(term.expressions);
      Requirements(term.fields);
    });
  }

  void PodTerms(const berth_array& terms) {
    List<berth_pod_term>(terms, [this](const berth_pod_term& term) {
      Selector(term.selector);
      Selector(term.namespace_selector);
      Names(term.namespaces);
      Name(term.topology_key);
      Number(term.weight);
    });
  }

  void Ports(const berth_array& ports) {
    List<berth_port>(ports, [this](const berth_port& port) {
      Number(port.protocol);
      Number(port.container_port);
      Number(port.host_port);
      Name(port.host_ip);
    });
  }

  void Owners(const berth_array& owners) {
    List<berth_owner>(owners, [this](const berth_owner& owner) {
      Text(owner.name);
      Text(owner.uid);
      Name(owner.api_version);
      Name(owner.kind);
      Number(owner.controller);
    });
  }

  void Tolerations(const berth_array& tolerations) {
    List<berth_toleration>(tolerations, [this](const berth_toleration& toleration) {
      Name(toleration.key);
      Name(toleration.value);
      Number(toleration.op);
      Number(toleration.effect);
      Number(toleration.seconds);
    });
  }

  void Spreads(const berth_array& spreads) {
    List<berth_spread>(spreads, [this](const berth_spread& spread) {
      Selector(spread.selector);
      Name(spread.topology_key);
      Number(spread.max_skew);
      Number(spread.min_domains);
      Number(spread.when_unsatisfiable);
      Number(spread.node_affinity_policy);
      Number(spread.node_taints_policy);
    });
  }

  void Volumes(const berth_array& volumes) {
    List<berth_volume>(volumes, [this](const berth_volume& volume) {
      Text(volume.name);
      Number(volume.kind);
      Number(volume.flags);
      Text(volume.source);
      Text(volume.pool);
      List<berth_str>(volume.hosts, [this](berth_str host) { Text(host); });
    });
  }

  void Conditions(const berth_array& conditions) {
    List<berth_condition>(conditions, [this](const berth_condition& condition) {
      Name(condition.type);
      Name(condition.reason);
      Number(condition.status);
      Number(condition.transition_ns);
    });
  }

  template <class Each>
  void Containers(const berth_pod& pod, Each each) {
    List<berth_container>(pod.containers, each);
    List<berth_container>(pod.init_containers, each);
  }

 private:
  uint64_t PairHash(Id name, uint64_t value) const {
    SipHash13 hash(interner_.key());
    hash.Add(interner_.Hash(name));
    hash.Add(value);
    return hash.Finish();
  }

  const Interner& interner_;
  SipHash13 hash_;
};

void HashAffinity(const berth_pod& pod, Hasher& hasher) {
  hasher.PodTerms(pod.affinity->required_pod_terms);
  hasher.PodTerms(pod.affinity->preferred_pod_terms);
  hasher.PodTerms(pod.affinity->required_pod_anti_terms);
  hasher.PodTerms(pod.affinity->preferred_pod_anti_terms);
}

void HashNodeSelection(const berth_pod& pod, Hasher& hasher) {
  hasher.Pairs(pod.node_selector);
  hasher.Number(pod.affinity->has_required_node_terms);
  hasher.NodeTerms(pod.affinity->required_node_terms);
  hasher.NodeTerms(pod.affinity->preferred_node_terms);
}

void HashRequests(const berth_pod& pod, Hasher& hasher) {
  hasher.Resources(*pod.request);
  hasher.Resources(*pod.request_of_containers);
  hasher.Resources(*pod.accounted);
  hasher.Number(pod.nonzero_milli_cpu);
  hasher.Number(pod.nonzero_memory);
}

void HashContainers(const berth_pod& pod, Hasher& hasher) {
  hasher.Containers(pod, [&](const berth_container& container) {
    hasher.Text(container.name);
    hasher.Number(container.flags);
    hasher.Resources(*container.requests);
    hasher.Resources(*container.limits);
  });
  hasher.Resources(*pod.overhead);
  hasher.Number(pod.flags & BERTH_POD_HAS_POD_LEVEL_REQUESTS);
  if ((pod.flags & BERTH_POD_HAS_POD_LEVEL_REQUESTS) != 0) hasher.Resources(*pod.request);
}

void HashClaims(const berth_pod& pod, Hasher& hasher) {
  hasher.List<berth_resource_claim>(pod.resource_claims, [&](const berth_resource_claim& claim) {
    hasher.Text(claim.name);
    hasher.Text(claim.claim_name);
    hasher.Text(claim.template_name);
    hasher.Number(claim.flags);
  });
}

void HashRuntime(const berth_pod& pod, Hasher& hasher) {
  hasher.Name(pod.os);
  hasher.Name(pod.runtime_class);
  hasher.Number(pod.flags & (BERTH_POD_HOST_NETWORK | BERTH_POD_HOST_USERS_FALSE));
  hasher.Number(pod.restart_policy);
}

void HashImages(const berth_pod& pod, Hasher& hasher) {
  hasher.Containers(pod, [&](const berth_container& container) {
    hasher.Name(container.image);
    hasher.Name(container.image_normal);
  });
}

void HashIdentity(const berth_meta& meta, Hasher& hasher) {
  hasher.Text(meta.name);
  hasher.Text(meta.uid);
  hasher.Text(meta.resource_version);
}

void HashPriority(const berth_pod& pod, Hasher& hasher) {
  hasher.Number(pod.priority);
  hasher.Number(pod.flags & BERTH_POD_HAS_PRIORITY);
  hasher.Name(pod.priority_class);
  hasher.Number(pod.preemption_policy);
}

void HashStatus(const berth_pod& pod, Hasher& hasher) {
  hasher.Number(pod.phase);
  hasher.Number(pod.started_ns);
  hasher.Conditions(pod.conditions);
}

void HashTextPairs(const berth_array& pairs, Hasher& hasher) {
  hasher.List<berth_str_pair>(pairs, [&](const berth_str_pair& pair) {
    hasher.Text(pair.key);
    hasher.Text(pair.value);
  });
}

void HashFields(const berth_array& fields, Hasher& hasher) {
  hasher.List<berth_field>(fields, [&](const berth_field& field) {
    hasher.Text(field.path);
    hasher.Tree(field.value);
  });
}

void HashPorts(const berth_pod& pod, Hasher& hasher) {
  hasher.Ports(pod.host_ports);
  hasher.Containers(pod, [&](const berth_container& container) { hasher.Ports(container.ports); });
}

}  // namespace

uint64_t HashPart(const berth_pod& pod, uint32_t part, const Interner& interner) {
  const berth_meta& meta = *pod.meta;
  Hasher hasher(interner);
  switch (part) {
    case BERTH_PART_IDENTITY: HashIdentity(meta, hasher); break;
    case BERTH_PART_NAMESPACE: hasher.Name(meta.ns); break;
    case BERTH_PART_LABELS: hasher.Pairs(meta.labels); break;
    case BERTH_PART_ANNOTATIONS: HashTextPairs(meta.annotations, hasher); break;
    case BERTH_PART_OWNERS: hasher.Owners(meta.owners); break;
    case BERTH_PART_TIMES:
      hasher.Number(meta.created_ns);
      hasher.Number(meta.deleted_ns);
      break;
    case BERTH_PART_PRIORITY: HashPriority(pod, hasher); break;
    case BERTH_PART_SCHEDULER_NAME: hasher.Name(pod.scheduler_name); break;
    case BERTH_PART_NODE_NAME: hasher.Name(pod.node_name); break;
    case BERTH_PART_NODE_SELECTION: HashNodeSelection(pod, hasher); break;
    case BERTH_PART_POD_AFFINITY: HashAffinity(pod, hasher); break;
    case BERTH_PART_TOLERATIONS: hasher.Tolerations(pod.tolerations); break;
    case BERTH_PART_SPREAD: hasher.Spreads(pod.spreads); break;
    case BERTH_PART_REQUESTS: HashRequests(pod, hasher); break;
    case BERTH_PART_CONTAINERS: HashContainers(pod, hasher); break;
    case BERTH_PART_PORTS: HashPorts(pod, hasher); break;
    case BERTH_PART_IMAGES: HashImages(pod, hasher); break;
    case BERTH_PART_VOLUMES: hasher.Volumes(pod.volumes); break;
    case BERTH_PART_GATES:
      hasher.List<berth_str>(pod.scheduling_gates, [&](berth_str gate) { hasher.Text(gate); });
      break;
    case BERTH_PART_CLAIMS: HashClaims(pod, hasher); break;
    case BERTH_PART_GROUP: hasher.Text(pod.pod_group); break;
    case BERTH_PART_RUNTIME: HashRuntime(pod, hasher); break;
    case BERTH_PART_NOMINATION: hasher.Name(pod.nominated_node); break;
    case BERTH_PART_STATUS: HashStatus(pod, hasher); break;
    case BERTH_PART_FIELDS: HashFields(meta.fields, hasher); break;
    default: BERTH_ASSERT_MSG(false, "part %u", part);
  }
  return hasher.Finish();
}

OwnPartHashes OwnHashes(const PartHashes& hashes) {
  OwnPartHashes own;
  std::copy_n(hashes.begin(), own.size(), own.begin());
  return own;
}

void HashParts(const berth_pod& pod, uint64_t parts, const Interner& interner, uint64_t* hashes) {
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((parts >> part & 1) != 0) hashes[part] = HashPart(pod, part, interner);
  }
}

}  // namespace berth::host
