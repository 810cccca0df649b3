// Kubernetes objects as immutable values: the views of <berth/abi.h>, decoded once, each object in
// memory of its own. Host and plugins read the same bytes.
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

// Null where there is none. Threading: copied and dropped on any thread; what they refer to never
// changes.
using PodRef = std::shared_ptr<const Pod>;
using NodeRef = std::shared_ptr<const Node>;
using ObjectRef = std::shared_ptr<const Object>;
using AnyObject = std::variant<PodRef, NodeRef, ObjectRef>;

// ---- Between the boundary's arrays and ours ---------------------------------------------------

// The elements of an array that this host made: T is the type that abi.h names for it.
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

// The value of `key` in pairs that are sorted by key id, as labels and node selectors are; kNoId
// when there is none.
Id FindValue(const berth_array& id_pairs, Id key);

// ---- Memory -----------------------------------------------------------------------------------

// What an object's view points into, and the ids that it holds.
// Must not: outlive the interner.
class ObjectMemory {
 public:
  // Takes over one reference for each element of `ids`; an id may be there several times. `shared`
  // is what else the view points into.
  ObjectMemory(Arena arena, Interner& interner, std::span<const Id> ids,
               std::shared_ptr<const void> shared = nullptr);
  ~ObjectMemory();
  ObjectMemory(ObjectMemory&& other) noexcept;
  ObjectMemory(const ObjectMemory&) = delete;
  ObjectMemory& operator=(const ObjectMemory&) = delete;
  ObjectMemory& operator=(ObjectMemory&&) = delete;

  Interner& interner() const { return *interner_; }
  // Taken from the heap.
  size_t bytes() const { return arena_.bytes_reserved(); }

 private:
  Arena arena_;
  Interner* interner_;
  std::span<const Id> ids_;  // In the arena.
  std::shared_ptr<const void> shared_;
};

// What the three kinds have in common.
class ObjectBase {
 public:
  ObjectBase(const ObjectBase&) = delete;
  ObjectBase& operator=(const ObjectBase&) = delete;

  const berth_meta& meta() const { return meta_; }
  std::string_view name() const { return Text(meta_.name); }
  // Empty for objects without a namespace.
  std::string_view ns() const { return interner().Text(meta_.ns); }
  std::string_view uid() const { return Text(meta_.uid); }
  std::string_view resource_version() const { return Text(meta_.resource_version); }
  // "namespace/name", or "name" for objects without a namespace.
  std::string Key() const;
  // The text of an id of this object.
  std::string_view Name(Id id) const { return interner().Text(id); }
  Interner& interner() const { return memory_.interner(); }

 protected:
  ObjectBase(ObjectMemory memory, const berth_meta& meta);
  ~ObjectBase() = default;

  ObjectMemory memory_;
  berth_meta meta_;
};

// ---- Pods -------------------------------------------------------------------------------------

class Pod final : public ObjectBase {
 private:
  struct Private {
    explicit Private() = default;
  };

 public:
  // All that `view` and `meta` point to lies in `memory` or lives for ever; their ids are those of
  // `memory`. `view.meta` and `view.part_hashes` are set here.
  static PodRef Make(ObjectMemory memory, const berth_pod& view, const berth_meta& meta);

  // For a pod that shares memory with `root`, and for Make, where that is null.
  Pod(Private, ObjectMemory memory, const berth_pod& view, const berth_meta& meta, PodRef root);

  const berth_pod& view() const { return view_; }
  // spec.nodeName and status.nominatedNodeName; empty when not set.
  std::string_view node_name() const { return Name(view_.node_name); }
  std::string_view nominated_node() const { return Name(view_.nominated_node); }
  std::string_view scheduler_name() const { return Name(view_.scheduler_name); }
  bool terminating() const { return meta_.deleted_ns != 0; }
  // By BERTH_PART_*.
  uint64_t part_hash(uint32_t part) const { return part_hashes_[part]; }

 private:
  friend class PodDeriver;

  berth_pod view_;
  std::array<uint64_t, BERTH_PART_COUNT> part_hashes_;
  PodRef root_;  // Of a derived pod: the decoded one that it shares memory with.
};

// What the scheduler writes into a pod's status. What is not set stays as it is.
struct PodStatusPatch {
  struct Condition {
    uint32_t status = BERTH_CONDITION_FALSE;
    std::string_view reason;
    // Goes to the API server only: no view has it.
    std::string_view message;
    int64_t transition_ns = 0;  // Used when the status differs from the present one.
    // metadata.generation of the pod that this is said of; 0: not said. For the API server only.
    int64_t observed_generation = 0;
  };
  std::optional<std::string_view> nominated_node;   // Empty: clears it.
  std::optional<Condition> pod_scheduled;           // Replaces the condition of type PodScheduled.
  std::optional<Condition> disruption_target = {};  // Of type DisruptionTarget.
};

// The same object as it is after a change. The new one shares the memory of the pod that was
// decoded, and of no other, however often pods are derived from derived ones.
PodRef WithResourceVersion(const PodRef& pod, std::string_view resource_version);
// `node_name` is an id of the pod's interner that the caller may use; kNoId: the pod is pending.
PodRef WithNode(const PodRef& pod, Id node_name, std::string_view resource_version);
PodRef WithStatus(const PodRef& pod, const PodStatusPatch& patch,
                  std::string_view resource_version);

// ---- Nodes ------------------------------------------------------------------------------------

class Node final : public ObjectBase {
 private:
  struct Private {
    explicit Private() = default;
  };

 public:
  // As Pod::Make.
  static NodeRef Make(ObjectMemory memory, const berth_node& view, const berth_meta& meta);

  Node(Private, ObjectMemory memory, const berth_node& view, const berth_meta& meta, NodeRef root);

  const berth_node& view() const { return view_; }

 private:
  friend NodeRef WithResourceVersion(const NodeRef& node, std::string_view resource_version);

  berth_node view_;
  NodeRef root_;
};

NodeRef WithResourceVersion(const NodeRef& node, std::string_view resource_version);

// ---- Objects of all other kinds ---------------------------------------------------------------

class Object final : public ObjectBase, public std::enable_shared_from_this<Object> {
 private:
  struct Private {
    explicit Private() = default;
  };

 public:
  // As Pod::Make.
  static ObjectRef Make(ObjectMemory memory, const berth_object& view, const berth_meta& meta);

  Object(Private, ObjectMemory memory, const berth_object& view, const berth_meta& meta,
         ObjectRef root);

  const berth_object& view() const { return view_.abi; }
  // The object of a view, held. REQUIRES: it is that of an object, which somebody holds.
  static ObjectRef Of(const berth_object& view);
  // "v1/Namespace", "storage.k8s.io/v1/CSINode".
  std::string_view kind() const { return Name(view_.abi.kind); }
  // The whole object as it was decoded; what a change derived since is in the view alone.
  const berth_value* value() const { return view_.abi.value; }

 private:
  friend ObjectRef WithResourceVersion(const ObjectRef& object, std::string_view resource_version);

  // The view leads back to its object.
  struct View {
    berth_object abi;
    const Object* object;
  };

  View view_;
  ObjectRef root_;
};

ObjectRef WithResourceVersion(const ObjectRef& object, std::string_view resource_version);

// What every kind has: the metadata of whichever it is. Must not be null.
const ObjectBase& Base(const AnyObject& object);

}  // namespace berth::host

#endif  // BERTH_HOST_API_OBJECTS_H_
