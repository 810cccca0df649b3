#include "host/api/part_hash.h"

#include <algorithm>

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

  template <class... Number>
  void Numbers(Number... numbers) {
    (hash_.Add(static_cast<uint64_t>(numbers)), ...);
  }
  template <class... Str>
  void Texts(Str... texts) {
    (hash_.Add(Text(texts)), ...);
  }
  void Tree(const berth_value* value) { AddValue(value, hash_); }
  // kNoId and the empty text have different hashes.
  template <class... Ids>
  void Names(Ids... ids) {
    Numbers(interner_.Hash(ids)...);
  }

  template <class T, class Each>
  void List(const berth_array& array, Each each) {
    Numbers(array.count);
    for (const T& element : Elements<T>(array)) each(element);
  }

  void NameList(const berth_array& ids) {
    List<Id>(ids, [this](Id id) { Names(id); });
  }

  // Hashes the pairs independently of their order. They are sorted by id, and a text may have
  // different ids at different times.
  void Pairs(const berth_array& pairs) {
    uint64_t sum = 0;
    for (const berth_id_pair& pair : Elements<berth_id_pair>(pairs)) {
      sum += PairHash(pair.key, interner_.Hash(pair.value));
    }
    Numbers(pairs.count, sum);
  }

  void Resources(const berth_resources& resources) {
    Numbers(resources.present, resources.milli_cpu, resources.memory, resources.ephemeral_storage,
            resources.pods);
    uint64_t sum = 0;
    for (const berth_quantity& scalar : Elements<berth_quantity>(resources.scalars)) {
      sum += PairHash(scalar.name, static_cast<uint64_t>(scalar.value));
    }
    Numbers(resources.scalars.count, sum);
  }

  void Requirements(const berth_array& requirements) {
    List<berth_requirement>(requirements, [this](const berth_requirement& requirement) {
      Names(requirement.key);
      Numbers(requirement.op);
      NameList(requirement.values);
      Numbers(requirement.number);
    });
  }

  void Selector(const berth_selector* selector) {
    Numbers(selector != nullptr);
    if (selector == nullptr) return;
    Numbers(selector->flags);
    Requirements(selector->requirements);
  }

  void NodeTerms(const berth_array& terms) {
    List<berth_node_term>(terms, [this](const berth_node_term& term) {
      Numbers(term.flags, term.weight);
      Requirements(term.expressions);
      Requirements(term.fields);
    });
  }

  void PodTerms(const berth_array& terms) {
    List<berth_pod_term>(terms, [this](const berth_pod_term& term) {
      Selector(term.selector);
      Selector(term.namespace_selector);
      NameList(term.namespaces);
      Names(term.topology_key);
      Numbers(term.weight);
    });
  }

  void Ports(const berth_array& ports) {
    List<berth_port>(ports, [this](const berth_port& port) {
      Numbers(port.protocol, port.container_port, port.host_port);
      Names(port.host_ip);
    });
  }

  void Owners(const berth_array& owners) {
    List<berth_owner>(owners, [this](const berth_owner& owner) {
      Texts(owner.name, owner.uid);
      Names(owner.api_version, owner.kind);
      Numbers(owner.controller);
    });
  }

  void Tolerations(const berth_array& tolerations) {
    List<berth_toleration>(tolerations, [this](const berth_toleration& toleration) {
      Names(toleration.key, toleration.value);
      Numbers(toleration.op, toleration.effect, toleration.seconds);
    });
  }

  void Spreads(const berth_array& spreads) {
    List<berth_spread>(spreads, [this](const berth_spread& spread) {
      Selector(spread.selector);
      Names(spread.topology_key);
      Numbers(spread.max_skew, spread.min_domains, spread.when_unsatisfiable,
              spread.node_affinity_policy, spread.node_taints_policy);
    });
  }

  void Volumes(const berth_array& volumes) {
    List<berth_volume>(volumes, [this](const berth_volume& volume) {
      Texts(volume.name);
      Numbers(volume.kind, volume.flags);
      Texts(volume.source, volume.pool);
      TextList(volume.hosts);
    });
  }

  void TextList(const berth_array& texts) {
    List<berth_str>(texts, [this](berth_str text) { Texts(text); });
  }

  void Conditions(const berth_array& conditions) {
    List<berth_condition>(conditions, [this](const berth_condition& condition) {
      Names(condition.type, condition.reason);
      Numbers(condition.status, condition.transition_ns);
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

void HashContainers(const berth_pod& pod, Hasher& hasher) {
  hasher.Containers(pod, [&](const berth_container& container) {
    hasher.Texts(container.name);
    hasher.Numbers(container.flags);
    hasher.Resources(*container.requests);
    hasher.Resources(*container.limits);
  });
  hasher.Resources(*pod.overhead);
  hasher.Numbers(pod.flags & BERTH_POD_HAS_POD_LEVEL_REQUESTS);
  if ((pod.flags & BERTH_POD_HAS_POD_LEVEL_REQUESTS) != 0) hasher.Resources(*pod.request);
}

// Hashes a part of what a pod requests and of where it may run.
void HashRequirements(const berth_pod& pod, uint32_t part, Hasher& hasher) {
  const berth_affinity& affinity = *pod.affinity;
  switch (part) {
    case BERTH_PART_NODE_SELECTION:
      hasher.Pairs(pod.node_selector);
      hasher.Numbers(affinity.has_required_node_terms);
      hasher.NodeTerms(affinity.required_node_terms);
      return hasher.NodeTerms(affinity.preferred_node_terms);
    case BERTH_PART_POD_AFFINITY:
      hasher.PodTerms(affinity.required_pod_terms);
      hasher.PodTerms(affinity.preferred_pod_terms);
      hasher.PodTerms(affinity.required_pod_anti_terms);
      return hasher.PodTerms(affinity.preferred_pod_anti_terms);
    case BERTH_PART_TOLERATIONS: return hasher.Tolerations(pod.tolerations);
    case BERTH_PART_SPREAD: return hasher.Spreads(pod.spreads);
    case BERTH_PART_REQUESTS:
      hasher.Resources(*pod.request);
      hasher.Resources(*pod.request_of_containers);
      hasher.Resources(*pod.accounted);
      return hasher.Numbers(pod.nonzero_milli_cpu, pod.nonzero_memory);
    case BERTH_PART_CONTAINERS: return HashContainers(pod, hasher);
    case BERTH_PART_PORTS:
      hasher.Ports(pod.host_ports);
      return hasher.Containers(
          pod, [&](const berth_container& container) { hasher.Ports(container.ports); });
    case BERTH_PART_IMAGES:
      return hasher.Containers(pod, [&](const berth_container& container) {
        hasher.Names(container.image, container.image_normal);
      });
    case BERTH_PART_VOLUMES: return hasher.Volumes(pod.volumes);
    case BERTH_PART_GATES: return hasher.TextList(pod.scheduling_gates);
    case BERTH_PART_CLAIMS:
      return hasher.List<berth_resource_claim>(
          pod.resource_claims, [&](const berth_resource_claim& claim) {
            hasher.Texts(claim.name, claim.claim_name, claim.template_name);
            hasher.Numbers(claim.flags);
          });
    case BERTH_PART_GROUP: return hasher.Texts(pod.pod_group);
    case BERTH_PART_RUNTIME:
      hasher.Names(pod.os, pod.runtime_class);
      return hasher.Numbers(pod.flags & (BERTH_POD_HOST_NETWORK | BERTH_POD_HOST_USERS_FALSE |
                                         BERTH_POD_HAS_BIND_MOUNT_OPTIONS),
                            pod.restart_policy);
    default: BERTH_ASSERT_MSG(false, "part %u", part);
  }
}

}  // namespace

uint64_t HashPart(const berth_pod& pod, uint32_t part, const Interner& interner) {
  const berth_meta& meta = *pod.meta;
  Hasher hasher(interner);
  switch (part) {
    case BERTH_PART_IDENTITY: hasher.Texts(meta.name, meta.uid, meta.resource_version); break;
    case BERTH_PART_NAMESPACE: hasher.Names(meta.ns); break;
    case BERTH_PART_LABELS: hasher.Pairs(meta.labels); break;
    case BERTH_PART_ANNOTATIONS:
      hasher.List<berth_str_pair>(meta.annotations, [&](const berth_str_pair& pair) {
        hasher.Texts(pair.key, pair.value);
      });
      break;
    case BERTH_PART_OWNERS: hasher.Owners(meta.owners); break;
    case BERTH_PART_TIMES: hasher.Numbers(meta.created_ns, meta.deleted_ns); break;
    case BERTH_PART_PRIORITY:
      hasher.Numbers(pod.priority, pod.flags & BERTH_POD_HAS_PRIORITY);
      hasher.Names(pod.priority_class);
      hasher.Numbers(pod.preemption_policy);
      break;
    case BERTH_PART_SCHEDULER_NAME: hasher.Names(pod.scheduler_name); break;
    case BERTH_PART_NODE_NAME: hasher.Names(pod.node_name); break;
    case BERTH_PART_NOMINATION: hasher.Names(pod.nominated_node); break;
    case BERTH_PART_STATUS:
      hasher.Numbers(pod.phase, pod.started_ns);
      hasher.Conditions(pod.conditions);
      break;
    case BERTH_PART_FIELDS:
      hasher.List<berth_field>(meta.fields, [&](const berth_field& field) {
        if (field.path.len == 0) return;  // The text of the object is no part of it.
        hasher.Texts(field.path);
        hasher.Tree(field.value);
      });
      break;
    default: HashRequirements(pod, part, hasher);
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
