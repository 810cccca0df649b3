// The objects that one watch has delivered, to find what an event replaces.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_OBJECT_INDEX_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_OBJECT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/objects.h"
#include "host/base/keyed_set.h"
#include "host/base/status.h"
#include "host/cluster/client.h"

namespace berth::host {

// Converts lists and watch lines into the events that WatchSink::OnEvents() requires. Holds
// references to objects that the cache holds anyway.
//
// Pods in a final phase: the server filters them by a field selector, so that such a pod arrives as
// deleted. If one arrives nevertheless, it is treated as deleted.
//
// Threading: one thread at a time.
class ObjectIndex {
 public:
  ObjectIndex() = default;
  ObjectIndex(const ObjectIndex&) = delete;
  ObjectIndex& operator=(const ObjectIndex&) = delete;

  // Applies one line of a watch. Returns the event; none if it changes nothing:
  //   added, modified  the same uid and resourceVersion as before
  //   deleted          an object that is not in the index
  //   all              a lower resourceVersion than that of the object in the index, which only a
  //                    server that lags behind sends (see lagged())
  // Another uid than before becomes kModified with the old object as `previous`, as client.h
  // defines it.
  std::optional<WatchEvent> Put(AnyObject object);
  std::optional<WatchEvent> Delete(AnyObject object);
  // Applies the deletion of an object that cannot be decoded. The event has the last known state
  // and final_state_unknown.
  std::optional<WatchEvent> DeleteNamed(std::string_view ns, std::string_view name,
                                        std::string_view version);

  // Replaces everything: the result of a list. Returns the differences in the order of namespace
  // and name: first the deletions, with final_state_unknown, then additions and changes, so that a
  // node is free before its room is used again. Of two objects with the same name the later version
  // counts.
  // A list that is older than the index is refused (kUnavailable): its resourceVersion is lower
  // than that of an object that the index has. Returns an error then and changes nothing. With
  // `may_be_older` it is accepted: the storage of the server was restored from a backup.
  Result<std::vector<WatchEvent>> Replace(std::vector<AnyObject> objects,
                                          std::string_view list_version, bool may_be_older = false);
  // Deletes everything: the server does not serve the kind any more. Returns the deletions with
  // final_state_unknown, in the order of namespace and name.
  std::vector<WatchEvent> Clear();

  // Returns the object with this name; null if there is none.
  // Lifetime: until the next change of the index.
  const AnyObject* Find(std::string_view ns, std::string_view name) const;
  // Returns the object of the index with the same name, uid and resourceVersion, if there is one,
  // and otherwise `object`. A list that is collected holds unchanged objects once then.
  AnyObject Reuse(AnyObject object) const;
  // Removes and returns all objects, in no order.
  std::vector<AnyObject> Take();

  size_t size() const { return objects_.size(); }
  // How many lower resourceVersions were refused.
  uint64_t lagged() const { return lagged_; }

 private:
  // Namespace and name.
  struct PlaceOf {
    std::pair<std::string_view, std::string_view> operator()(const AnyObject& object) const {
      return {Base(object).ns(), Base(object).name()};
    }
  };
  using Objects = KeyedSet<AnyObject, PlaceOf>;

  // Removes the object, which is in the index. `version` is that of the deletion.
  std::optional<WatchEvent> Remove(const AnyObject& object, std::string_view version);

  Objects objects_;
  uint64_t lagged_ = 0;
};

// Compares two resourceVersions as numbers, which the API server guarantees to be comparable within
// a resource. Returns nullopt if one of them is no number.
std::optional<bool> IsOlder(std::string_view version, std::string_view than);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_OBJECT_INDEX_H_
