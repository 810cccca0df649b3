#include "host/api/shared_parts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/api/derivation.h"
#include "host/api/part_hash.h"
#include "host/api/requests.h"
#include "host/base/hash.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

// A pod shares these parts together: the members of the view are taken from the other pod.
constexpr uint64_t kTemplateParts = BERTH_PART(NODE_SELECTION) | BERTH_PART(POD_AFFINITY) |
                                    BERTH_PART(TOLERATIONS) | BERTH_PART(SPREAD) |
                                    BERTH_PART(REQUESTS) | BERTH_PART(CONTAINERS) |
                                    BERTH_PART(PORTS) | BERTH_PART(IMAGES) | BERTH_PART(GATES) |
                                    BERTH_PART(CLAIMS) | BERTH_PART(GROUP) | BERTH_PART(FIELDS);

// Returns the parts, as a mask of BERTH_PART bits, that differ.
uint64_t Differences(const PartHashes& a, const PartHashes& b) {
  uint64_t different = 0;
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    if (a[part] != b[part]) different |= uint64_t{1} << part;
  }
  return different;
}

// Returns one hash of the parts, a mask of BERTH_PART bits.
uint64_t HashOf(const PartHashes& hashes, uint64_t parts) {
  uint64_t hash = 0;
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((parts >> part & 1) != 0) hash = HashCombine(hash, hashes[part]);
  }
  return hash;
}

// --- what a copy of a part needs ----------------------------------------------------------------

// The padding in front of an array.
constexpr size_t kPadding = 8;

size_t BytesOf(const berth_array& array) {
  return array.count == 0 ? 0 : size_t{array.count} * array.stride + kPadding;
}

size_t BytesOfAnnotations(const berth_array& annotations) {
  size_t bytes = BytesOf(annotations);
  for (const berth_str_pair& pair : Elements<berth_str_pair>(annotations)) {
    bytes += pair.key.len + pair.value.len;
  }
  return bytes;
}

size_t BytesOfOwners(const berth_array& owners) {
  size_t bytes = BytesOf(owners) + 2 * sizeof(Id) * owners.count;
  for (const berth_owner& owner : Elements<berth_owner>(owners)) {
    bytes += owner.name.len + owner.uid.len;
  }
  return bytes;
}

size_t BytesOfVolumes(const berth_array& volumes) {
  size_t bytes = BytesOf(volumes);
  for (const berth_volume& volume : Elements<berth_volume>(volumes)) {
    bytes += volume.name.len + volume.source.len + volume.pool.len + BytesOf(volume.hosts);
    for (const berth_str& host : Elements<berth_str>(volume.hosts)) bytes += host.len;
  }
  return bytes;
}

// The pairs of labels and the conditions have two ids each.
size_t BytesOfIdPairs(const berth_array& array) {
  return BytesOf(array) + 2 * sizeof(Id) * array.count;
}

size_t BytesOfResources(const berth_resources& resources) {
  return sizeof(resources) + BytesOf(resources.scalars) + sizeof(Id) * resources.scalars.count;
}

size_t BytesOfTexts(const berth_meta& meta) {
  return size_t{meta.name.len} + meta.uid.len + meta.resource_version.len;
}

// --- copies -------------------------------------------------------------------------------------

void CopyTexts(Derivation& to, berth_meta& meta) {
  meta.name = to.Copy(meta.name);
  meta.uid = to.Copy(meta.uid);
  meta.resource_version = to.Copy(meta.resource_version);
}

void CopyLabels(Derivation& to, berth_array& labels) {
  const auto copy = to.CopyArray<berth_id_pair>(labels);
  for (const berth_id_pair& pair : copy) {
    to.Share(pair.key);
    to.Share(pair.value);
  }
  labels = AsArray(copy);
}

void CopyAnnotations(Derivation& to, berth_array& annotations) {
  const auto copy = to.CopyArray<berth_str_pair>(annotations);
  for (berth_str_pair& pair : copy) pair = {to.Copy(pair.key), to.Copy(pair.value)};
  annotations = AsArray(copy);
}

void CopyOwners(Derivation& to, berth_array& owners) {
  const auto copy = to.CopyArray<berth_owner>(owners);
  for (berth_owner& owner : copy) {
    owner.name = to.Copy(owner.name);
    owner.uid = to.Copy(owner.uid);
    to.Share(owner.api_version);
    to.Share(owner.kind);
  }
  owners = AsArray(copy);
}

void CopyVolumes(Derivation& to, berth_array& volumes) {
  const auto copy = to.CopyArray<berth_volume>(volumes);
  for (berth_volume& volume : copy) {
    volume.name = to.Copy(volume.name);
    volume.source = to.Copy(volume.source);
    volume.pool = to.Copy(volume.pool);
    const auto hosts = to.CopyArray<berth_str>(volume.hosts);
    for (berth_str& host : hosts) host = to.Copy(host);
    volume.hosts = AsArray(hosts);
  }
  volumes = AsArray(copy);
}

void CopyConditions(Derivation& to, berth_array& conditions) {
  const auto copy = to.CopyArray<berth_condition>(conditions);
  for (const berth_condition& condition : copy) {
    to.Share(condition.type);
    to.Share(condition.reason);
  }
  conditions = AsArray(copy);
}

const berth_resources* CopyResources(Derivation& to, const berth_resources& resources) {
  berth_resources* copy = to.arena().New<berth_resources>(resources);
  const auto scalars = to.CopyArray<berth_quantity>(resources.scalars);
  for (const berth_quantity& scalar : scalars) to.Share(scalar.name);
  copy->scalars = AsArray(scalars);
  return copy;
}

// --- pods ---------------------------------------------------------------------------------------

constexpr size_t kIdsOfPod = 7;  // See ShareIds().

void ShareIds(Derivation& to, const berth_pod& view, const berth_meta& meta) {
  for (const Id id : {meta.ns, view.scheduler_name, view.node_name, view.priority_class,
                      view.runtime_class, view.os, view.nominated_node}) {
    to.Share(id);
  }
}

void TakeTemplateParts(const berth_pod& from, berth_pod& view) {
  view.node_selector = from.node_selector;
  view.affinity = from.affinity;
  view.tolerations = from.tolerations;
  view.spreads = from.spreads;
  view.containers = from.containers;
  view.init_containers = from.init_containers;
  view.scheduling_gates = from.scheduling_gates;
  view.resource_claims = from.resource_claims;
  view.pod_group = from.pod_group;
  view.request = from.request;
  view.request_of_containers = from.request_of_containers;
  view.accounted = from.accounted;
  view.host_ports = from.host_ports;
  view.overhead = from.overhead;
}

// A part of a pod that is shared if it is equal, and copied otherwise.
struct CopiedPart {
  uint64_t part;
  berth_array* to;
  const berth_array* from;
  size_t (*bytes)(const berth_array& array);
  void (*copy)(Derivation& to, berth_array& array);
};

std::array<CopiedPart, 5> CopiedParts(const berth_pod& from, berth_pod& view, berth_meta& meta) {
  return {
      {{BERTH_PART(LABELS), &meta.labels, &from.meta->labels, BytesOfIdPairs, CopyLabels},
       {BERTH_PART(ANNOTATIONS), &meta.annotations, &from.meta->annotations, BytesOfAnnotations,
        CopyAnnotations},
       {BERTH_PART(OWNERS), &meta.owners, &from.meta->owners, BytesOfOwners, CopyOwners},
       {BERTH_PART(VOLUMES), &view.volumes, &from.volumes, BytesOfVolumes, CopyVolumes},
       {BERTH_PART(STATUS), &view.conditions, &from.conditions, BytesOfIdPairs, CopyConditions}}};
}

PodRef Share(const PodRef& from, uint64_t different, berth_pod view, berth_meta meta,
             const PartHashes& hashes) {
  TakeTemplateParts(from->view(), view);
  meta.fields = from->meta().fields;
  const auto parts = CopiedParts(from->view(), view, meta);
  const bool shares_hashes = (different & ~kOwnParts) == 0;
  size_t bytes = ObjectMemory::kOwnBytes + BytesOfTexts(meta) + kIdsOfPod * sizeof(Id);
  if (!shares_hashes) bytes += OtherHashes(hashes).size_bytes() + kPadding;
  for (const CopiedPart& part : parts) {
    if ((part.part & different) != 0) bytes += part.bytes(*part.to);
  }
  Derivation to(from->interner(), bytes);
  CopyTexts(to, meta);
  ShareIds(to, view, meta);
  for (const CopiedPart& part : parts) {
    if ((part.part & different) != 0) {
      part.copy(to, *part.to);
    } else {
      *part.to = *part.from;
    }
  }
  view.part_hashes = from->view().part_hashes;
  if (!shares_hashes) view.part_hashes = AsArray(to.arena().CopyArray(OtherHashes(hashes)));
  return Pod::Make(to.Finish(from, ObjectMemory::Other::kPart), view, meta, OwnHashes(hashes));
}

// --- nodes --------------------------------------------------------------------------------------

bool SameIds(const berth_array& a, const berth_array& b) {
  return std::ranges::equal(Elements<Id>(a), Elements<Id>(b));
}

bool SameImages(const berth_array& a, const berth_array& b) {
  return std::ranges::equal(Elements<berth_image>(a), Elements<berth_image>(b),
                            [](const berth_image& x, const berth_image& y) {
                              return x.size == y.size && SameIds(x.names, y.names);
                            });
}

NodeRef Share(const NodeRef& from, berth_node view, berth_meta meta) {
  view.images = from->view().images;
  view.declared_features = from->view().declared_features;
  size_t bytes = ObjectMemory::kOwnBytes + sizeof(Id) + BytesOfTexts(meta) +
                 BytesOfIdPairs(meta.labels) + BytesOfAnnotations(meta.annotations) +
                 BytesOfOwners(meta.owners) + BytesOfIdPairs(view.conditions) +
                 BytesOf(view.taints) + 2 * sizeof(Id) * view.taints.count;
  const berth_node& theirs = from->view();
  const bool same_allocatable = SameResources(*view.allocatable, *theirs.allocatable);
  const bool same_capacity = SameResources(*view.capacity, *theirs.capacity);
  if (!same_allocatable) bytes += BytesOfResources(*view.allocatable);
  if (!same_capacity) bytes += BytesOfResources(*view.capacity);

  Derivation to(from->interner(), bytes);
  CopyTexts(to, meta);
  CopyLabels(to, meta.labels);
  CopyAnnotations(to, meta.annotations);
  CopyOwners(to, meta.owners);
  CopyConditions(to, view.conditions);
  const auto taints = to.CopyArray<berth_taint>(view.taints);
  for (const berth_taint& taint : taints) {
    to.Share(taint.key);
    to.Share(taint.value);
  }
  view.taints = AsArray(taints);
  view.allocatable = same_allocatable ? theirs.allocatable : CopyResources(to, *view.allocatable);
  view.capacity = same_capacity ? theirs.capacity : CopyResources(to, *view.capacity);
  to.Share(view.name);
  return Node::Make(to.Finish(from, ObjectMemory::Other::kPart), view, meta);
}

}  // namespace

size_t SharedParts::PlaceOf(const berth_node& view) {
  uint64_t hash = 0;
  for (const Id feature : Elements<Id>(view.declared_features)) hash = HashCombine(hash, feature);
  for (const berth_image& image : Elements<berth_image>(view.images)) {
    hash = HashCombine(hash, static_cast<uint64_t>(image.size));
    for (const Id name : Elements<Id>(image.names)) hash = HashCombine(hash, name);
  }
  return hash % kNodes;
}

PodRef SharedParts::SourceFor(std::string_view uid, const PartHashes& hashes) {
  const uint64_t hash = HashOf(hashes, kAllParts & ~kOwnParts);
  Kind& kind = kinds_[hash % kPods];
  if (kind.hash == hash) {
    PodRef pod = kind.pod.lock();
    // A later version of the first pod is no second pod.
    if (pod != nullptr || kind.uid_hash != HashBytes(uid)) return pod;
  } else if (kind.pod.expired()) {
    kind = {.hash = hash, .uid_hash = HashBytes(uid)};
  }
  return pods_[HashOf(hashes, kTemplateParts) % kPods].lock();
}

PodRef SharedParts::MakePod(const berth_pod& view, const berth_meta& meta,
                            const PartHashes& hashes) {
  if (pods_.empty() || !KeptText(meta).empty()) return nullptr;  // No texts are copied.
  const PodRef from = SourceFor(Text(meta.uid), hashes);
  if (from == nullptr) return nullptr;
  const uint64_t different = Differences(hashes, from->part_hashes());
  if ((different & kTemplateParts) != 0) return nullptr;
  return Share(from, different, view, meta, hashes);
}

NodeRef SharedParts::MakeNode(const berth_node& view, const berth_meta& meta) const {
  if (nodes_.empty() || meta.fields.count != 0) return nullptr;  // No trees are copied.
  const NodeRef from = nodes_[PlaceOf(view)].lock();
  const bool shares = from != nullptr && SameImages(view.images, from->view().images) &&
                      SameIds(view.declared_features, from->view().declared_features);
  return shares ? Share(from, view, meta) : nullptr;
}

void SharedParts::Add(const PodRef& pod) {
  pods_.resize(kPods);
  kinds_.resize(kPods);
  const PartHashes hashes = pod->part_hashes();
  const uint64_t hash = HashOf(hashes, kAllParts & ~kOwnParts);
  Kind& kind = kinds_[hash % kPods];
  if (kind.hash == hash || kind.pod.expired()) {
    kind = {.hash = hash, .uid_hash = HashBytes(pod->uid()), .pod = pod};
  }
  pods_[HashOf(hashes, kTemplateParts) % kPods] = pod;
}

void SharedParts::Add(const NodeRef& node) {
  nodes_.resize(kNodes);
  nodes_[PlaceOf(node->view())] = node;
}

}  // namespace berth::host
