// The contents of an embedded cluster: objects, with what it records about each of them, leases
// and events.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STORED_OBJECTS_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STORED_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/api/objects.h"
#include "host/base/arena.h"
#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/delivery_queue.h"
#include "host/cluster/lease.h"

namespace berth::host {

// Counts the changes of everything in a cluster: objects, leases and events.
class ResourceVersions {
 public:
  ResourceVersions() = default;
  ResourceVersions(const ResourceVersions&) = delete;
  ResourceVersions& operator=(const ResourceVersions&) = delete;

  // Returns the resourceVersion of the next change.
  std::string Next() { return std::to_string(++last_); }
  // Returns the resourceVersion of the last change; 0 if nothing has changed.
  uint64_t last() const { return last_; }

 private:
  uint64_t last_ = 0;
};

// ---- Metadata that an API server determines -----------------------------------------------------

struct ServerMeta {
  std::string_view uid;
  std::string_view resource_version;
  int64_t created_ns = 0;
  int64_t deleted_ns = 0;
};

inline ServerMeta MetaOf(const ObjectBase& object) {
  return {object.uid(), object.resource_version(), object.meta().created_ns,
          object.meta().deleted_ns};
}

// Returns a copy of the pod, node or object with other metadata. The copy shares the memory of
// `object` and keeps it alive.
template <class T>
std::shared_ptr<const T> WithMeta(const std::shared_ptr<const T>& object, const ServerMeta& meta) {
  constexpr size_t kFirstChunk = 128;
  Arena arena(kFirstChunk);
  berth_meta changed = object->meta();
  changed.uid = AsStr(arena.CopyString(meta.uid));
  changed.resource_version = AsStr(arena.CopyString(meta.resource_version));
  changed.created_ns = meta.created_ns;
  changed.deleted_ns = meta.deleted_ns;
  ObjectMemory memory(std::move(arena), object->interner(), {}, object);
  return T::Make(std::move(memory), object->view(), changed);
}

inline AnyObject WithMeta(const AnyObject& object, const ServerMeta& meta) {
  return std::visit([&](const auto& ref) -> AnyObject { return WithMeta(ref, meta); }, object);
}

inline AnyObject WithResourceVersion(const AnyObject& object, std::string_view resource_version) {
  return std::visit(
      [&](const auto& ref) -> AnyObject { return WithResourceVersion(ref, resource_version); },
      object);
}

// ---- Objects ------------------------------------------------------------------------------------

struct StoredObject {
  AnyObject object;
  int64_t grace_seconds = 0;           // The grace period of a pod that is being deleted.
  int64_t due_ns = 0;                  // See StoredObjects::SetDeletionDue(); 0 for none.
  std::string scheduled_message = {};  // The message of the pod's condition PodScheduled.
  bool is_nominated_here = false;      // A client of this cluster nominated the pod.
};

// Returns the key of an object as ObjectBase::Key() does: "namespace/name", or "name" without a
// namespace.
std::string ObjectKey(std::string_view ns, std::string_view name);

// Finds objects by kind and key, and notifies the watches of each change. The caller applies the
// rules of an API server before it changes anything: which changes are allowed, and which metadata
// and status the result has.
//
// Pods in a final phase are stored, but watches do not deliver them: a pod that reaches such a
// phase is delivered as deleted.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  the arguments of the constructor must outlive this object. A reference or pointer to a
//            stored object is valid until the object is erased.
class StoredObjects {
 public:
  using ByKey = std::map<std::string, StoredObject, std::less<>>;

  StoredObjects(DeliveryQueue& deliveries, ResourceVersions& versions)
      : deliveries_(deliveries), versions_(versions) {}
  StoredObjects(const StoredObjects&) = delete;
  StoredObjects& operator=(const StoredObjects&) = delete;

  // ---- Contents ---------------------------------------------------------------------------------

  // Returns null if the object does not exist.
  StoredObject* Find(std::string_view kind, std::string_view key);
  const StoredObject* Find(std::string_view kind, std::string_view key) const;
  // Returns the objects of a kind by key, which is the order of an API server's lists; null if the
  // kind is not one of Kinds().
  const ByKey* OfKind(std::string_view kind) const;
  // Returns the objects of a kind that watches deliver, by key.
  std::vector<AnyObject> Watched(std::string_view kind) const;
  // Returns the key of the pod with the uid, or null if no pod has it.
  const std::string* FindPodWithUid(std::string_view uid) const;
  // Returns the kinds of which an object was ever stored, and those that AddKind() added, sorted.
  std::vector<std::string> Kinds() const;
  // REQUIRES: the kind is served.
  void AddKind(std::string_view kind) { kinds_.try_emplace(std::string(kind)); }
  // Every kind is served until SetServed() changes that.
  bool IsServed(std::string_view kind) const { return !not_served_.contains(kind); }
  // Returns a uid that no pod has. It depends only on the number of earlier calls and the uids of
  // the existing pods.
  std::string NewUid();

  // ---- Changes ----------------------------------------------------------------------------------

  // Adds an object.
  // REQUIRES: no object of its kind has its key, and no pod has the uid of a pod.
  const StoredObject& Add(StoredObject added);
  // Replaces the stored object by `object`, which has the same kind, key and uid.
  void Replace(StoredObject& stored, AnyObject object);
  // Erases the stored object. The deletion takes a resourceVersion.
  void Erase(StoredObject& stored);
  // Begins or ends to serve a kind. At the end, all objects of the kind are erased, and the kind is
  // no longer one of Kinds().
  void SetServed(std::string_view kind, bool served);

  // ---- Due deletions ----------------------------------------------------------------------------

  // Sets when the deletion of a pod is due that was requested in this cluster. A pod that was
  // deleted elsewhere has a deletionTimestamp without a due deletion.
  void SetDeletionDue(StoredObject& pod, int64_t due_ns);
  // Returns the pod whose deletion is due first, or null if no deletion is due.
  const StoredObject* FirstDue() const;

 private:
  DeliveryQueue& deliveries_;
  ResourceVersions& versions_;
  std::map<std::string, ByKey, std::less<>> kinds_;
  std::set<std::string, std::less<>> not_served_;
  uint64_t last_uid_ = 0;
  StringMap<std::string> pod_by_uid_;                    // The keys of pods by their uids.
  std::set<std::pair<int64_t, std::string>> deletions_;  // The due times and keys of deleted pods.
};

// ---- Leases -------------------------------------------------------------------------------------

// Stores leases with optimistic concurrency. The errors and their texts are those of an API server.
//
// Errors:    Get(): kNotFound. Create(): kAlreadyExists. Update(): kNotFound; kConflict if the
//            resourceVersion is not the current one; kInvalidArgument if it is empty.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  `versions` must outlive this object.
class StoredLeases {
 public:
  explicit StoredLeases(ResourceVersions& versions) : versions_(versions) {}
  StoredLeases(const StoredLeases&) = delete;
  StoredLeases& operator=(const StoredLeases&) = delete;

  Result<Lease> Get(std::string_view ns, std::string_view name) const;
  // Returns: the lease as stored, with its resourceVersion.
  Result<Lease> Create(Lease lease);
  // Returns: the lease as stored, with its new resourceVersion.
  Result<Lease> Update(Lease lease);

 private:
  ResourceVersions& versions_;
  std::map<std::string, Lease, std::less<>> leases_;  // By "namespace/name".
};

// ---- Events (events.k8s.io/v1) ------------------------------------------------------------------

// Stores a limited number of events. The oldest events are removed first.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  `versions` and `clock` must outlive this object.
class StoredEvents {
 public:
  StoredEvents(size_t max_events, ResourceVersions& versions, const Clock& clock)
      : max_events_(max_events), versions_(versions), clock_(clock) {}
  StoredEvents(const StoredEvents&) = delete;
  StoredEvents& operator=(const StoredEvents&) = delete;

  // Adds an event. Sets its eventTime if it has none.
  // Errors: kInvalidArgument for an event that an API server rejects.
  Status Add(Event event);
  // Returns the stored events, the oldest first.
  const std::deque<Event>& events() const { return events_; }

 private:
  const size_t max_events_;
  ResourceVersions& versions_;
  const Clock& clock_;
  std::deque<Event> events_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STORED_OBJECTS_H_
