// Stores the latest version of every watched object that is neither a pod nor a node.
#ifndef BERTH_HOST_CACHE_OBJECT_STORE_H_
#define BERTH_HOST_CACHE_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/objects.h"

namespace berth::host {

// Objects by kind ("v1/PersistentVolumeClaim"), then by namespace and name.
// Threading: the scheduling thread.
class ObjectStore {
 public:
  // Adds the object, or replaces the one of that kind, namespace and name.
  void Set(ObjectRef object);
  // Removes the object. Does nothing when there is none.
  void Remove(std::string_view kind, std::string_view ns, std::string_view name);
  // Returns the object; null when there is none.
  ObjectRef Get(std::string_view kind, std::string_view ns, std::string_view name) const;
  // Calls `each` in the order of namespace and name until it returns false. An empty `ns` means all
  // namespaces.
  void List(std::string_view kind, std::string_view ns,
            const std::function<bool(const ObjectRef&)>& each) const;
  size_t size() const;

  // A callback for changes. `old` is null for an addition, `now` for a deletion. If an object is
  // replaced by one of the same name with another uid, the callback gets a deletion and then an
  // addition.
  // Must not: change the store, or add or remove watchers.
  using OnChange = std::function<void(const ObjectRef& old, const ObjectRef& now)>;
  using WatcherId = uint64_t;  // Never 0; never reused.
  // Registers a watcher. It is not called before Replay(), which calls it with every existing
  // object as an addition, in the order of namespace and name. Afterwards it is called for every
  // change of the kind, in order, after the change. Watchers are called in the order of Watch().
  WatcherId Watch(std::string_view kind, OnChange change);
  void Replay(WatcherId watcher);
  void Unwatch(WatcherId watcher);

 private:
  struct Watcher {
    WatcherId id;
    std::string kind;
    OnChange change;
    bool replayed = false;  // Replay() was called.
  };
  using Key = std::pair<std::string, std::string>;
  using Objects = std::map<Key, ObjectRef>;

  void NotifyWatchers(std::string_view kind, const ObjectRef& old, const ObjectRef& now) const;

  std::map<std::string, Objects, std::less<>> kinds_;
  std::vector<Watcher> watchers_;
  WatcherId last_watcher_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_OBJECT_STORE_H_
