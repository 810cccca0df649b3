// The objects of an embedded cluster, with what the cluster records about each of them.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STORED_OBJECTS_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STORED_OBJECTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/objects.h"
#include "host/base/string_map.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/delivery_queue.h"
#include "host/cluster/embedded/resource_versions.h"

namespace berth::host {

struct StoredObject {
  AnyObject object;
  int64_t grace_seconds = 0;           // The grace period of a pod that is being deleted.
  int64_t due_ns = 0;                  // See StoredObjects::SetDeletionDue(); 0 for none.
  std::string scheduled_message = {};  // The message of the pod's condition PodScheduled.
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

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STORED_OBJECTS_H_
