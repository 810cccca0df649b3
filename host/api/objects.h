// Kubernetes objects as immutable values. An object is decoded once into the views of <berth/abi.h>
// and owns its memory. The host and the plugins read the same bytes.
#ifndef BERTH_HOST_API_OBJECTS_H_
#define BERTH_HOST_API_OBJECTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <berth/abi.h>

#include "host/base/arena.h"
#include "host/base/assert.h"
#include "host/base/interner.h"
#include "host/base/text.h"

namespace berth::host {

class Pod;
class Node;
class Object;

// References to objects; null stands for no object.
// Threading: references may be copied and dropped on any thread. The objects never change.
using PodRef = std::shared_ptr<const Pod>;
using NodeRef = std::shared_ptr<const Node>;
using ObjectRef = std::shared_ptr<const Object>;
using AnyObject = std::variant<PodRef, NodeRef, ObjectRef>;

// ---- Arrays of the C boundary -----------------------------------------------------------------

// Returns the elements of an array that the host has made.
// REQUIRES: T is the element type that abi.h gives for the array.
template <class T>
std::span<const T> Elements(const berth_array& array) {
  BERTH_ASSERT(array.count == 0 || array.stride == sizeof(T));
  return {static_cast<const T*>(array.data), array.count};
}

template <class T>
berth_array AsArray(std::span<T> elements) {
  BERTH_ASSERT(elements.size() <= UINT32_MAX);
  return {elements.data(), static_cast<uint32_t>(elements.size()), sizeof(T)};
}

// Returns the value of `key` in an array of pairs that is sorted by key id, such as labels or a
// node selector; kNoId if the array does not contain `key`.
Id FindValue(const berth_array& id_pairs, Id key);

// ---- Memory -----------------------------------------------------------------------------------

// The memory that an object's view points to, and the references to ids that the object holds.
// A cluster has many objects, so this takes two pointers in each of them.
// Must not: outlive the interner.
class ObjectMemory {
 public:
  // The bytes that the constructor takes from the arena beside those of the ids.
  static constexpr size_t kOwnBytes = 40;

  // Other memory that the view of an object points to.
  enum class Other : uint8_t {
    kPart,  // It belongs to an object that is equal in some parts.
    kRoot,  // It belongs to the root: the object that this one is a changed copy of.
  };

  // Takes ownership of one reference for each element of `ids`, which may contain an id several
  // times. `other`, which may be null, keeps other memory alive.
  ObjectMemory(Arena arena, Interner& interner, std::span<const Id> ids,
               std::shared_ptr<const void> other = nullptr, Other kind = Other::kPart);
  ~ObjectMemory();
  ObjectMemory(ObjectMemory&& other) noexcept;
  ObjectMemory(const ObjectMemory&) = delete;
  ObjectMemory& operator=(const ObjectMemory&) = delete;
  ObjectMemory& operator=(ObjectMemory&&) = delete;

  Interner& interner() const { return header_->interner; }
  // Returns the root; null if the object is no changed copy of another one.
  template <class T>
  std::shared_ptr<const T> Root() const {
    if (header_->kind != Other::kRoot) return nullptr;
    return std::static_pointer_cast<const T>(header_->other);
  }

 private:
  // What must be released with the memory. It is in the memory itself, and so are the ids, which
  // follow it.
  struct Header {
    Interner& interner;
    std::shared_ptr<const void> other;
    uint32_t id_count;
    Other kind;

    std::span<Id> ids() { return {reinterpret_cast<Id*>(this + 1), id_count}; }
  };

  Header* header_;  // Null after a move.
  ArenaMemory memory_;
};

// The base class of Pod, Node and Object.
class ObjectBase {
 public:
  ObjectBase(const ObjectBase&) = delete;
  ObjectBase& operator=(const ObjectBase&) = delete;

  const berth_meta& meta() const { return meta_; }
  std::string_view name() const { return Text(meta_.name); }
  // Returns the namespace; empty for an object without a namespace.
  std::string_view ns() const { return interner().Text(meta_.ns); }
  std::string_view uid() const { return Text(meta_.uid); }
  std::string_view resource_version() const { return Text(meta_.resource_version); }
  // Returns "namespace/name", or "name" for an object without a namespace.
  std::string Key() const;
  // Returns the text of an id of this object.
  std::string_view Name(Id id) const { return interner().Text(id); }
  Interner& interner() const { return memory_.interner(); }

  // Returns the root of `object`; `object` itself if it is no changed copy.
  template <class T>
  static std::shared_ptr<const T> RootOf(const std::shared_ptr<const T>& object) {
    std::shared_ptr<const T> root = object->memory_.template Root<T>();
    return root != nullptr ? root : object;
  }

 protected:
  ObjectBase(ObjectMemory memory, const berth_meta& meta);
  ~ObjectBase() = default;

  ObjectMemory memory_;
  berth_meta meta_;
};

// The part that Pod, Node and Object have in common: an object with its view.
template <class Self, class View>
class ViewedObject : public ObjectBase, public std::enable_shared_from_this<Self> {
 public:
  const View& view() const { return view_; }
  // Returns a reference to the object that has this view; null if `view` is no view of an object,
  // such as a copy of one.
  // REQUIRES: if it is the view of an object, the object exists.
  static std::shared_ptr<const Self> Of(const View& view);

 protected:
  struct Private {
    explicit Private() = default;
  };

  ViewedObject(ObjectMemory memory, const View& view, const berth_meta& meta)
      : ObjectBase(std::move(memory), meta), view_(view) {
    view_.struct_size = sizeof(view_);
    view_.meta = &meta_;
  }
  ~ViewedObject() = default;

  View view_;
};

// ---- Pods -------------------------------------------------------------------------------------

// The hash of each part, indexed by BERTH_PART_*.
using PartHashes = std::array<uint64_t, BERTH_PART_COUNT>;
// The hashes of the parts below BERTH_OWN_PARTS. The others are in an array that pods may share.
using OwnPartHashes = std::array<uint64_t, BERTH_OWN_PARTS>;

class Pod final : public ViewedObject<Pod, berth_pod> {
 public:
  // Creates a pod and sets `view.meta` and `view.own_part_hashes`.
  // REQUIRES: everything that `view` and `meta` point to, and so the hashes of all other parts, is
  // in `memory` or is never freed; `memory` holds a reference to each of their ids; the hashes are
  // those of HashParts().
  static PodRef Make(ObjectMemory memory, const berth_pod& view, const berth_meta& meta,
                     const OwnPartHashes& own_hashes);
  // Does the same, and computes the hashes of the pod's own parts.
  static PodRef Make(ObjectMemory memory, const berth_pod& view, const berth_meta& meta);

  // Called by Make().
  Pod(Private, ObjectMemory memory, const berth_pod& view, const berth_meta& meta,
      const OwnPartHashes& own_hashes);

  // Returns spec.nodeName; empty if it is not set.
  std::string_view node_name() const { return Name(view_.node_name); }
  // Returns status.nominatedNodeName; empty if it is not set.
  std::string_view nominated_node() const { return Name(view_.nominated_node); }
  std::string_view scheduler_name() const { return Name(view_.scheduler_name); }
  bool terminating() const { return meta_.deleted_ns != 0; }
  // Returns whether the pod is in a final phase: its containers have ended, and it takes no room.
  bool has_ended() const {
    return view_.phase == BERTH_PHASE_SUCCEEDED || view_.phase == BERTH_PHASE_FAILED;
  }
  // Returns the hash of one part, which is a BERTH_PART_* number.
  uint64_t part_hash(uint32_t part) const {
    if (part < BERTH_OWN_PARTS) return own_part_hashes_[part];
    return static_cast<const uint64_t*>(view_.part_hashes.data)[part - BERTH_OWN_PARTS];
  }
  PartHashes part_hashes() const;

 private:
  friend class PodDeriver;

  OwnPartHashes own_part_hashes_;
};

// A change of a pod's status by the scheduler. Fields that are not set stay unchanged.
struct PodStatusPatch {
  struct Condition {
    uint32_t status = BERTH_CONDITION_FALSE;
    std::string_view reason;
    // The message is sent to the API server only; the views do not contain it.
    std::string_view message;
    int64_t transition_ns = 0;  // Used if the status differs from the current status.
    // The metadata.generation of the pod that the condition describes; 0 if it is not set. It is
    // sent to the API server only.
    int64_t observed_generation = 0;
    // The condition has this status already. The request for the API server then has no time of
    // the transition, so that the stored one stays.
    bool keeps_status = false;
  };
  std::optional<std::string_view> nominated_node;   // An empty name clears the nomination.
  std::optional<Condition> pod_scheduled;           // Replaces the condition of type PodScheduled.
  std::optional<Condition> disruption_target = {};  // Replaces the condition DisruptionTarget.
};

// Each function below returns a copy of an object with a change. The copy shares the memory of the
// object that was decoded, and keeps no other copy alive, even if it is derived from a derived
// object.
PodRef WithResourceVersion(const PodRef& pod, std::string_view resource_version);
// `node_name` is a valid id of the pod's interner; kNoId makes the pod pending.
PodRef WithNode(const PodRef& pod, Id node_name, std::string_view resource_version);
PodRef WithStatus(const PodRef& pod, const PodStatusPatch& patch,
                  std::string_view resource_version);

// ---- Nodes ------------------------------------------------------------------------------------

class Node final : public ViewedObject<Node, berth_node> {
 public:
  // See Pod::Make.
  static NodeRef Make(ObjectMemory memory, const berth_node& view, const berth_meta& meta) {
    return std::make_shared<Node>(Private(), std::move(memory), view, meta);
  }

  Node(Private, ObjectMemory memory, const berth_node& view, const berth_meta& meta)
      : ViewedObject(std::move(memory), view, meta) {}
};

NodeRef WithResourceVersion(const NodeRef& node, std::string_view resource_version);

// ---- Objects of all other kinds ---------------------------------------------------------------

class Object final : public ViewedObject<Object, berth_object> {
 public:
  // See Pod::Make.
  static ObjectRef Make(ObjectMemory memory, const berth_object& view, const berth_meta& meta) {
    return std::make_shared<Object>(Private(), std::move(memory), view, meta);
  }

  Object(Private, ObjectMemory memory, const berth_object& view, const berth_meta& meta)
      : ViewedObject(std::move(memory), view, meta) {}
  // Returns the version and kind, such as "v1/Namespace" or "storage.k8s.io/v1/CSINode".
  std::string_view kind() const { return Name(view_.kind); }
  // Returns the whole object as it was decoded. Changes of a derived object are only in its view.
  const berth_value* value() const { return view_.value; }
};

ObjectRef WithResourceVersion(const ObjectRef& object, std::string_view resource_version);

// Returns the JSON text that a pod or node was decoded from; empty if the decoder did not keep it,
// see DecodeOptions. It is a member of berth_meta.fields with an empty path, which plugins do not
// read. Changes of a derived object are only in its view.
std::string_view KeptText(const berth_meta& meta);

// Returns the object as its base class, which gives access to its metadata.
// REQUIRES: the reference is not null.
const ObjectBase& Base(const AnyObject& object);

}  // namespace berth::host

#endif  // BERTH_HOST_API_OBJECTS_H_
