#include "host/api/objects.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "host/api/derivation.h"
#include "host/api/part_hash.h"
#include "host/api/value.h"

// GCC supports offsetof for classes without virtual bases.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace berth::host {
namespace {

// The views of all kinds begin with a size and the pointer to the metadata, so that a view that is
// given as one of another kind can be examined.
static_assert(offsetof(berth_pod, meta) == offsetof(berth_node, meta) &&
              offsetof(berth_pod, meta) == offsetof(berth_object, meta));
static_assert(sizeof(berth_pod) != sizeof(berth_node) &&
              sizeof(berth_pod) != sizeof(berth_object) &&
              sizeof(berth_node) != sizeof(berth_object));

// Returns a copy of a node, or of an object without a view of its own.
template <class T>
std::shared_ptr<const T> CopyWithVersion(const std::shared_ptr<const T>& object,
                                         std::string_view resource_version) {
  Derivation derivation(object->interner());
  berth_meta meta = object->meta();
  meta.resource_version = derivation.Copy(resource_version);
  return T::Make(derivation.Finish(ObjectBase::RootOf(object), ObjectMemory::Other::kRoot),
                 object->view(), meta);
}

}  // namespace

Id FindValue(const berth_array& id_pairs, Id key) {
  const auto pairs = Elements<berth_id_pair>(id_pairs);
  // Objects have few labels, for which a loop is faster than a binary search.
  for (const berth_id_pair& pair : pairs) {
    if (pair.key == key) return pair.value;
  }
  return kNoId;
}

ObjectMemory::ObjectMemory(Arena arena, Interner& interner, std::span<const Id> ids,
                           std::shared_ptr<const void> other, Other kind) {
  static_assert(sizeof(Header) + alignof(Header) <= kOwnBytes);
  BERTH_ASSERT(ids.size() <= UINT32_MAX);
  void* const place = arena.Allocate(sizeof(Header) + ids.size_bytes(), alignof(Header));
  header_ = ::new (place) Header{.interner = interner,
                                 .other = std::move(other),
                                 .id_count = static_cast<uint32_t>(ids.size()),
                                 .kind = kind};
  std::ranges::uninitialized_copy(ids, header_->ids());
  memory_ = arena.TakeMemory();
}

ObjectMemory::ObjectMemory(ObjectMemory&& other) noexcept
    : header_(std::exchange(other.header_, nullptr)), memory_(std::move(other.memory_)) {}

ObjectMemory::~ObjectMemory() {
  if (header_ == nullptr) return;
  for (const Id id : header_->ids()) header_->interner.Release(id);
  header_->~Header();
}

// The view and its metadata are members of the object, so that the distance between them tells
// whether `view` is one: a copy of a view is elsewhere. No memory but that of `view` is read before
// that is known.
template <class Self, class View>
std::shared_ptr<const Self> ViewedObject<Self, View>::Of(const View& view) {
  constexpr size_t kViewAt = offsetof(ViewedObject, view_);
  const auto address = reinterpret_cast<uintptr_t>(&view);
  const bool is_member =
      view.struct_size == sizeof(View) &&
      address - reinterpret_cast<uintptr_t>(view.meta) == kViewAt - offsetof(ViewedObject, meta_);
  if (!is_member) return nullptr;
  return reinterpret_cast<const ViewedObject*>(address - kViewAt)->weak_from_this().lock();
}

template class ViewedObject<Pod, berth_pod>;
template class ViewedObject<Node, berth_node>;
template class ViewedObject<Object, berth_object>;

ObjectBase::ObjectBase(ObjectMemory memory, const berth_meta& meta)
    : memory_(std::move(memory)), meta_(meta) {
  meta_.struct_size = sizeof(meta_);
}

std::string ObjectBase::Key() const {
  const std::string_view name_space = ns();
  std::string key;
  key.reserve(name_space.size() + 1 + name().size());
  if (meta_.ns != kNoId) key.append(name_space).append(1, '/');
  return key.append(name());
}

// ---- Pods -------------------------------------------------------------------------------------

PodRef Pod::Make(ObjectMemory memory, const berth_pod& view, const berth_meta& meta,
                 const OwnPartHashes& own_hashes) {
  BERTH_ASSERT(view.part_hashes.count == BERTH_PART_COUNT - BERTH_OWN_PARTS);
  return std::make_shared<Pod>(Private(), std::move(memory), view, meta, own_hashes);
}

PodRef Pod::Make(ObjectMemory memory, const berth_pod& view, const berth_meta& meta) {
  berth_pod hashed = view;
  hashed.meta = &meta;
  OwnPartHashes own_hashes;
  HashParts(hashed, kOwnParts, memory.interner(), own_hashes.data());
  return Make(std::move(memory), view, meta, own_hashes);
}

Pod::Pod(Private, ObjectMemory memory, const berth_pod& view, const berth_meta& meta,
         const OwnPartHashes& own_hashes)
    : ViewedObject(std::move(memory), view, meta), own_part_hashes_(own_hashes) {
  view_.own_part_hashes = AsArray(std::span<uint64_t>(own_part_hashes_));
}

PartHashes Pod::part_hashes() const {
  PartHashes hashes;
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) hashes[part] = part_hash(part);
  return hashes;
}

class PodDeriver {
 public:
  explicit PodDeriver(const PodRef& pod)
      : pod_(pod), derivation_(pod->interner()), view_(pod->view_), meta_(pod->meta_) {}

  void SetResourceVersion(std::string_view resource_version) {
    meta_.resource_version = derivation_.Copy(resource_version);
    changed_ |= BERTH_PART(IDENTITY);
  }

  void SetNode(Id node_name) {
    view_.node_name = node_name;
    changed_ |= BERTH_PART(NODE_NAME);
  }

  void SetNominatedNode(std::string_view node_name) {
    nominated_is_new_ = true;
    view_.nominated_node = node_name.empty() ? kNoId : derivation_.Intern(node_name);
    changed_ |= BERTH_PART(NOMINATION);
  }

  void SetCondition(std::string_view name, const PodStatusPatch::Condition& patch) {
    const Id type = derivation_.Intern(name);
    const auto before = Elements<berth_condition>(view_.conditions);
    const auto found = std::find_if(before.begin(), before.end(),
                                    [type](const berth_condition& c) { return c.type == type; });
    const size_t at = static_cast<size_t>(found - before.begin());
    const std::span<berth_condition> after = CopyConditions(std::max(before.size(), at + 1), at);
    berth_condition& condition = after[at];
    if (condition.status != patch.status) condition.transition_ns = patch.transition_ns;
    condition.type = type;
    condition.status = patch.status;
    condition.reason = patch.reason.empty() ? kNoId : derivation_.Intern(patch.reason);
    conditions_are_new_ = true;
    changed_ |= BERTH_PART(STATUS);
  }

  PodRef Finish() {
    derivation_.Share(view_.node_name);
    if (!nominated_is_new_) derivation_.Share(view_.nominated_node);
    const PodRef root = Pod::RootOf(pod_);
    if (!conditions_are_new_ && view_.conditions.data != root->view_.conditions.data) {
      CopyConditions(view_.conditions.count, SIZE_MAX);
    }
    view_.meta = &meta_;
    OwnPartHashes own_hashes = pod_->own_part_hashes_;
    BERTH_ASSERT((changed_ & ~kOwnParts) == 0);  // The hashes of the others are shared.
    HashParts(view_, changed_, pod_->interner(), own_hashes.data());
    return Pod::Make(derivation_.Finish(root, ObjectMemory::Other::kRoot), view_, meta_,
                     own_hashes);
  }

 private:
  // Copies the conditions into an array of `count` elements, and adds references to the ids of all
  // except the one at index `except`.
  std::span<berth_condition> CopyConditions(size_t count, size_t except) {
    const auto before = Elements<berth_condition>(view_.conditions);
    const std::span<berth_condition> after = derivation_.arena().NewArray<berth_condition>(count);
    std::ranges::copy(before, after.begin());
    for (size_t i = 0; i < before.size(); ++i) {
      if (i == except) continue;
      derivation_.Share(before[i].type);
      derivation_.Share(before[i].reason);
    }
    view_.conditions = AsArray(after);
    return after;
  }

  const PodRef& pod_;
  Derivation derivation_;
  berth_pod view_;
  berth_meta meta_;
  uint64_t changed_ = 0;
  bool nominated_is_new_ = false;
  bool conditions_are_new_ = false;
};

PodRef WithResourceVersion(const PodRef& pod, std::string_view resource_version) {
  PodDeriver deriver(pod);
  deriver.SetResourceVersion(resource_version);
  return deriver.Finish();
}

PodRef WithNode(const PodRef& pod, Id node_name, std::string_view resource_version) {
  PodDeriver deriver(pod);
  deriver.SetResourceVersion(resource_version);
  deriver.SetNode(node_name);
  return deriver.Finish();
}

PodRef WithStatus(const PodRef& pod, const PodStatusPatch& patch,
                  std::string_view resource_version) {
  PodDeriver deriver(pod);
  deriver.SetResourceVersion(resource_version);
  if (patch.nominated_node) deriver.SetNominatedNode(*patch.nominated_node);
  if (patch.pod_scheduled) deriver.SetCondition("PodScheduled", *patch.pod_scheduled);
  if (patch.disruption_target) deriver.SetCondition("DisruptionTarget", *patch.disruption_target);
  return deriver.Finish();
}

// ---- Nodes and objects of all other kinds -------------------------------------------------------

NodeRef WithResourceVersion(const NodeRef& node, std::string_view resource_version) {
  return CopyWithVersion(node, resource_version);
}

ObjectRef WithResourceVersion(const ObjectRef& object, std::string_view resource_version) {
  return CopyWithVersion(object, resource_version);
}

std::string_view KeptText(const berth_meta& meta) {
  for (const berth_field& field : Elements<berth_field>(meta.fields)) {
    if (field.path.len == 0 && field.value != nullptr) return Value::Of(field.value)->text();
  }
  return {};
}

const ObjectBase& Base(const AnyObject& object) {
  return std::visit([](const auto& ref) -> const ObjectBase& { return *ref; }, object);
}

}  // namespace berth::host
