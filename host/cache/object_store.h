// Objects of the kinds that no view covers, as the cluster last said they are.
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

// By kind ("v1/PersistentVolumeClaim"), then by namespace and name.
// Threading: the scheduling thread.
class ObjectStore {
 public:
  // Adds the object, or replaces the one of that kind, namespace and name.
  void Set(ObjectRef object);
  void Remove(std::string_view kind, std::string_view ns, std::string_view name);
  // Null when there is none.
  ObjectRef Get(std::string_view kind, std::string_view ns, std::string_view name) const;
  // Calls `each` by namespace and name until it returns false. An empty `ns` means all of them.
  void List(std::string_view kind, std::string_view ns,
            const std::function<bool(const ObjectRef&)>& each) const;
  size_t size() const;

  // `old` is null for an addition, `now` for a deletion. Of an object that took the place of
  // another one with its name (another uid), the deletion comes first.
  // Must not: change the store, or watch it.
  using OnChange = std::function<void(const ObjectRef& old, const ObjectRef& now)>;
  using WatcherId = uint64_t;  // Never 0; never given out twice.
  // `change` is told nothing before Replay(), within which it is told of all that there is as
  // additions, by namespace and name; then of every change of the kind, in order, when it has
  // happened. Watchers are told in the order of Watch().
  WatcherId Watch(std::string_view kind, OnChange change);
  void Replay(WatcherId watcher);
  void Unwatch(WatcherId watcher);

 private:
  struct Watcher {
    WatcherId id;
    std::string kind;
    OnChange change;
    bool live = false;  // It has been shown what there is.
  };
  using Key = std::pair<std::string, std::string>;
  using Objects = std::map<Key, ObjectRef>;

  void Tell(std::string_view kind, const ObjectRef& old, const ObjectRef& now) const;

  std::map<std::string, Objects, std::less<>> kinds_;
  std::vector<Watcher> watchers_;
  WatcherId last_watcher_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_OBJECT_STORE_H_
