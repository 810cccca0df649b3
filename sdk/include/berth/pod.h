// Pods and nodes for plugins: the boundary's views with ranges and string views added.
//
// Pod and NodeView are one pointer each. `pod->priority` reads a member of the view (see abi.h);
// `pod.labels()` returns a member that is a range.
//
// Lifetime:  until the call that passed it returns, unless a service states otherwise.
#ifndef BERTH_POD_H_
#define BERTH_POD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
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

using Annotations = Span<const berth_str_pair>;  // Sorted by key.

// Returns the value of annotation `key`; std::nullopt if there is none. Cost: O(log annotations).
inline std::optional<std::string_view> FindAnnotation(Annotations annotations,
                                                      std::string_view key) {
  std::size_t low = 0;
  std::size_t high = annotations.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const int order = Str(annotations[middle].key).compare(key);
    if (order == 0) return Str(annotations[middle].value);
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

// Returns the value of label `key` as a text; std::nullopt if the label is absent. `host`: the
// berth::Host, or another object with Find(text) and Text(id). A plugin that reads a label of many
// pods keeps the id of the key (Host::Intern) and compares ids.
// Threading: that of berth_strings.find. Cost: a lookup by hash, and O(log labels).
template <class Texts>
std::optional<std::string_view> FindLabelText(Labels labels, std::string_view key,
                                              const Texts& host) {
  const berth_id id = host.Find(key);
  if (id == BERTH_ID_NONE) return std::nullopt;
  const berth_id value = FindLabel(labels, id);
  if (value == BERTH_ID_NONE) return std::nullopt;
  return host.Text(value);
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
  Annotations annotations() const { return Annotations(pod_->meta->annotations); }
  // Returns the value of an annotation; std::nullopt if there is none.
  std::optional<std::string_view> Annotation(std::string_view key) const {
    return FindAnnotation(annotations(), key);
  }
  Span<const berth_owner> owners() const { return Span<const berth_owner>(pod_->meta->owners); }
  // Returns the value of label `key`, or 0 if the label is absent.
  berth_id Label(berth_id key) const { return FindLabel(labels(), key); }
  // Returns the text of a label by the text of its key: see FindLabelText().
  template <class Texts>
  std::optional<std::string_view> Label(std::string_view key, const Texts& host) const {
    return FindLabelText(labels(), key, host);
  }
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
  template <class Texts>
  std::optional<std::string_view> Label(std::string_view key, const Texts& host) const {
    return FindLabelText(labels(), key, host);
  }
  Annotations annotations() const { return Annotations(node_->meta->annotations); }
  // Returns the value of an annotation; std::nullopt if there is none.
  std::optional<std::string_view> Annotation(std::string_view key) const {
    return FindAnnotation(annotations(), key);
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
