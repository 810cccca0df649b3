// Pods and nodes for plugins: the boundary's views with ranges and string views added.
//
// Pod and NodeView are one pointer each. `pod->priority` reads a member of the view (see abi.h);
// `pod.labels()` returns a member that is a range.
//
// Lifetime:  until the call that passed it returns, unless a service states otherwise.
#ifndef BERTH_POD_H_
#define BERTH_POD_H_

#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/span.h>
#include <berth/value.h>

namespace berth {

using Labels = Span<const berth_id_pair>;  // Sorted by key id.

// Returns the value of label `key`, or 0 if the label is absent.
inline berth_id FindLabel(Labels labels, berth_id key) {
  std::size_t low = 0;
  std::size_t high = labels.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (labels[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < labels.size() && labels[low].key == key ? labels[low].value : BERTH_ID_NONE;
}

// Returns a part that the plugin requested in kFields; absent if the object does not have it.
inline Value FindField(const berth_meta& meta, std::string_view path) {
  for (const berth_field& field : Span<const berth_field>(meta.fields)) {
    if (Str(field.path) == path) return Value(field.value);
  }
  return Value();
}

class Pod {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): Pod and berth_pod are interchangeable.
  Pod(const berth_pod& pod) : pod_(&pod) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const berth_pod&() const { return *pod_; }
  const berth_pod& operator*() const { return *pod_; }
  const berth_pod* operator->() const { return pod_; }

  std::string_view name() const { return Str(pod_->meta->name); }
  std::string_view uid() const { return Str(pod_->meta->uid); }
  berth_id ns() const { return pod_->meta->ns; }
  Labels labels() const { return Labels(pod_->meta->labels); }
  Span<const berth_str_pair> annotations() const {
    return Span<const berth_str_pair>(pod_->meta->annotations);
  }
  Span<const berth_owner> owners() const { return Span<const berth_owner>(pod_->meta->owners); }
  // Returns the value of label `key`, or 0 if the label is absent.
  berth_id Label(berth_id key) const { return FindLabel(labels(), key); }
  // Returns a part that the plugin requested in kFields, by its path: "/spec/hostIPC".
  Value Field(std::string_view path) const { return FindField(*pod_->meta, path); }

  Labels node_selector() const { return Labels(pod_->node_selector); }
  const berth_affinity& affinity() const { return *pod_->affinity; }
  Span<const berth_toleration> tolerations() const {
    return Span<const berth_toleration>(pod_->tolerations);
  }
  Span<const berth_spread> spreads() const { return Span<const berth_spread>(pod_->spreads); }
  Span<const berth_container> containers() const {
    return Span<const berth_container>(pod_->containers);
  }
  Span<const berth_container> init_containers() const {
    return Span<const berth_container>(pod_->init_containers);
  }
  Span<const berth_volume> volumes() const { return Span<const berth_volume>(pod_->volumes); }
  Span<const berth_str> scheduling_gates() const {
    return Span<const berth_str>(pod_->scheduling_gates);
  }
  Span<const berth_resource_claim> resource_claims() const {
    return Span<const berth_resource_claim>(pod_->resource_claims);
  }
  Span<const berth_port> host_ports() const { return Span<const berth_port>(pod_->host_ports); }
  // Returns spec.schedulingGroup.podGroupName, a name in the pod's namespace; empty: no group.
  std::string_view group() const { return Str(pod_->pod_group); }
  const berth_resources& request() const { return *pod_->request; }
  Span<const berth_quantity> scalar_requests() const {
    return Span<const berth_quantity>(pod_->request->scalars);
  }
  Span<const berth_condition> conditions() const {
    return Span<const berth_condition>(pod_->conditions);
  }
  // Returns the hash of one part: PartHash(BERTH_PART_LABELS). 0 for a part that is unknown to
  // the host.
  uint64_t PartHash(uint32_t part) const {
    const bool is_own = part < BERTH_OWN_PARTS;
    const Span<const uint64_t> hashes(is_own ? pod_->own_part_hashes : pod_->part_hashes);
    const uint32_t index = is_own ? part : part - BERTH_OWN_PARTS;
    return index < hashes.size() ? hashes[index] : 0;
  }

 private:
  const berth_pod* pod_;
};

class NodeView {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): NodeView and berth_node are interchangeable.
  NodeView(const berth_node& node) : node_(&node) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const berth_node&() const { return *node_; }
  const berth_node& operator*() const { return *node_; }
  const berth_node* operator->() const { return node_; }

  std::string_view name() const { return Str(node_->meta->name); }
  Labels labels() const { return Labels(node_->meta->labels); }
  berth_id Label(berth_id key) const { return FindLabel(labels(), key); }
  Span<const berth_str_pair> annotations() const {
    return Span<const berth_str_pair>(node_->meta->annotations);
  }
  // Returns a part that the plugin requested in kFields: "/spec/podCIDR" for "Node:/spec/podCIDR".
  Value Field(std::string_view path) const { return FindField(*node_->meta, path); }
  Span<const berth_taint> taints() const { return Span<const berth_taint>(node_->taints); }
  const berth_resources& allocatable() const { return *node_->allocatable; }
  Span<const berth_condition> conditions() const {
    return Span<const berth_condition>(node_->conditions);
  }
  Span<const berth_image> images() const { return Span<const berth_image>(node_->images); }

 private:
  const berth_node* node_;
};

}  // namespace berth

#endif  // BERTH_POD_H_
