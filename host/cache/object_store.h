// Stores the latest version of every watched object that is neither a pod nor a node.
#ifndef BERTH_HOST_CACHE_OBJECT_STORE_H_
#define BERTH_HOST_CACHE_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/objects.h"

namespace berth::host {

// One change of the store. `old` is null for an addition, `now` for a deletion.
// Lifetime: until the call that passed it returns.
struct ObjectChange {
  const ObjectRef& old;
  const ObjectRef& now;
  bool existed = false;  // An addition of an object that existed before it was watched.
};

// Objects by kind ("v1/PersistentVolumeClaim"), then by namespace and name.
//
// Methods with a parameter `declared` accept a kind with several versions, as plugins declare it,
// and use the version that the server serves: see UsedKind(). A kind with one version is read
// whether or not it is recorded as served, because the objects of a kind that the server begins to
// serve arrive before that is recorded (WatchSink::OnEvents).
//
// Threading: the scheduling thread.
class ObjectStore {
 public:
  // Adds the object, or replaces the one of that kind, namespace and name. `existed`: see
  // ObjectChange.
  void Set(ObjectRef object, bool existed = false);
  // Removes the object. Does nothing when there is none.
  void Remove(std::string_view kind, std::string_view ns, std::string_view name);
  // Returns the object; null when there is none.
  ObjectRef Get(std::string_view declared, std::string_view ns, std::string_view name) const;
  // Calls `each` in the order of namespace and name until it returns false. An empty `ns` means all
  // namespaces.
  void List(std::string_view declared, std::string_view ns,
            const std::function<bool(const ObjectRef&)>& each) const;
  // Returns all objects of `kind`, which has one version, in the order of namespace and name.
  std::vector<ObjectRef> ObjectsOf(std::string_view kind) const;
  size_t size() const;

  // Records whether the server serves `kind`, which has one version. Every kind counts as served
  // until it is recorded that it is not. Watchers of several versions get the objects of the
  // version that they used as deleted, and those of the version that they use now as added.
  void SetServed(std::string_view kind, bool served);
  // Returns whether it is recorded that the server serves one of the versions.
  bool IsServed(std::string_view declared) const { return !UsedKind(declared).empty(); }
  // Returns whether Get(), List() and watchers have the objects of the kind, as far as they are
  // known: it is recorded as served, or objects of it are here before that is recorded.
  bool IsAvailable(std::string_view declared) const;
  // Returns the kind with the first version that the server serves; empty if it serves none.
  // Lifetime: that of the argument or of the store, whichever ends first.
  std::string_view UsedKind(std::string_view declared) const;

  // A callback for changes. If an object is replaced by one of the same name with another uid, the
  // callback gets a deletion and then an addition.
  // Must not: change the store, or add or remove watchers.
  using OnChange = std::function<void(const ObjectChange& change)>;
  using WatcherId = uint64_t;  // Never 0; never reused.
  // Registers a watcher. It is not called before Replay(), which calls it with every existing
  // object as an addition that existed, in the order of namespace and name. Afterwards it is called
  // for every change of the kind, in order, after the change. Watchers are called in the order of
  // Watch().
  WatcherId Watch(std::string_view declared, OnChange change);
  void Replay(WatcherId watcher);
  void Unwatch(WatcherId watcher);

 private:
  struct Watcher {
    WatcherId id;
    std::string declared;
    OnChange change;
    bool replayed = false;  // Replay() was called.
  };
  using Key = std::pair<std::string, std::string>;
  using Objects = std::map<Key, ObjectRef>;

  // Returns the kind with one version whose objects stand for `declared`; empty if there is none.
  std::string_view ReadKind(std::string_view declared) const;
  void NotifyWatchers(std::string_view kind, const ObjectChange& change) const;
  // Calls the watcher with all objects of the kind, as additions that existed or as deletions.
  void ReportAll(const Watcher& watcher, std::string_view kind, bool as_added) const;

  std::map<std::string, Objects, std::less<>> kinds_;
  std::set<std::string, std::less<>> not_served_;
  // The kinds that texts with several versions stand for.
  mutable std::map<std::string, std::vector<std::string>, std::less<>> versions_;
  std::vector<Watcher> watchers_;
  WatcherId last_watcher_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_OBJECT_STORE_H_
