#include "host/cache/object_store.h"

#include <algorithm>

#include "host/base/assert.h"
#include "host/base/kind_name.h"

namespace berth::host {

void ObjectStore::Set(ObjectRef object, bool existed) {
  Key key(object->ns(), object->name());
  ObjectRef& place = kinds_[std::string(object->kind())][std::move(key)];
  const ObjectRef old = std::exchange(place, object);
  if (old != nullptr && old->uid() != object->uid()) {
    NotifyWatchers(object->kind(), {.old = old, .now = nullptr});
    NotifyWatchers(object->kind(), {.old = nullptr, .now = object, .existed = existed});
  } else {
    NotifyWatchers(object->kind(),
                   {.old = old, .now = object, .existed = existed && old == nullptr});
  }
}

void ObjectStore::Remove(std::string_view kind, std::string_view ns, std::string_view name) {
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return;
  const auto node = objects->second.extract(Key(ns, name));
  if (!node.empty()) NotifyWatchers(kind, {.old = node.mapped(), .now = nullptr});
}

ObjectRef ObjectStore::Get(std::string_view declared, std::string_view ns,
                           std::string_view name) const {
  const auto objects = kinds_.find(ReadKind(declared));
  if (objects == kinds_.end()) return nullptr;
  const auto found = objects->second.find(Key(ns, name));
  return found != objects->second.end() ? found->second : nullptr;
}

void ObjectStore::List(std::string_view declared, std::string_view ns,
                       const std::function<bool(const ObjectRef&)>& each) const {
  const auto objects = kinds_.find(ReadKind(declared));
  if (objects == kinds_.end()) return;
  auto object = ns.empty() ? objects->second.begin() : objects->second.lower_bound(Key(ns, ""));
  for (; object != objects->second.end(); ++object) {
    if (!ns.empty() && object->first.first != ns) return;
    if (!each(object->second)) return;
  }
}

std::vector<ObjectRef> ObjectStore::ObjectsOf(std::string_view kind) const {
  std::vector<ObjectRef> found;
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return found;
  found.reserve(objects->second.size());
  for (const auto& [key, object] : objects->second) found.push_back(object);
  return found;
}

size_t ObjectStore::size() const {
  size_t size = 0;
  for (const auto& [kind, objects] : kinds_) size += objects.size();
  return size;
}

// --- kinds that are served ----------------------------------------------------------------------

std::string_view ObjectStore::UsedKind(std::string_view declared) const {
  if (!HasSeveralVersions(declared)) {
    return not_served_.contains(declared) ? std::string_view() : declared;
  }
  auto found = versions_.find(declared);
  if (found == versions_.end()) {
    found = versions_.emplace(declared, KindsOf(declared)).first;
  }
  for (const std::string& kind : found->second) {
    if (!not_served_.contains(kind)) return kind;
  }
  return {};
}

bool ObjectStore::IsAvailable(std::string_view declared) const {
  if (IsServed(declared)) return true;
  const auto objects = kinds_.find(ReadKind(declared));
  return objects != kinds_.end() && !objects->second.empty();
}

std::string_view ObjectStore::ReadKind(std::string_view declared) const {
  return HasSeveralVersions(declared) ? UsedKind(declared) : declared;
}

void ObjectStore::SetServed(std::string_view kind, bool served) {
  if (served == !not_served_.contains(kind)) return;
  std::vector<std::string> used;
  used.reserve(watchers_.size());
  for (const Watcher& watcher : watchers_) used.emplace_back(UsedKind(watcher.declared));
  if (served) {
    not_served_.erase(not_served_.find(kind));
  } else {
    not_served_.emplace(kind);
  }
  for (size_t i = 0; i < watchers_.size(); ++i) {
    const Watcher& watcher = watchers_[i];
    const std::string_view now = UsedKind(watcher.declared);
    // A watcher of one version got the changes of its objects already.
    if (!watcher.replayed || !HasSeveralVersions(watcher.declared) || used[i] == now) continue;
    ReportAll(watcher, used[i], false);
    ReportAll(watcher, now, true);
  }
}

// --- watchers -----------------------------------------------------------------------------------

ObjectStore::WatcherId ObjectStore::Watch(std::string_view declared, OnChange change) {
  watchers_.push_back({++last_watcher_, std::string(declared), std::move(change)});
  return last_watcher_;
}

void ObjectStore::Replay(WatcherId watcher) {
  const auto found = std::ranges::find(watchers_, watcher, &Watcher::id);
  BERTH_ASSERT(found != watchers_.end() && !found->replayed);
  found->replayed = true;
  ReportAll(*found, ReadKind(found->declared), true);
}

void ObjectStore::ReportAll(const Watcher& watcher, std::string_view kind, bool as_added) const {
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return;
  for (const auto& [key, object] : objects->second) {
    if (as_added) {
      watcher.change({.old = nullptr, .now = object, .existed = true});
    } else {
      watcher.change({.old = object, .now = nullptr});
    }
  }
}

void ObjectStore::Unwatch(WatcherId watcher) {
  std::erase_if(watchers_, [watcher](const Watcher& known) { return known.id == watcher; });
}

void ObjectStore::NotifyWatchers(std::string_view kind, const ObjectChange& change) const {
  for (const Watcher& watcher : watchers_) {
    if (watcher.replayed && ReadKind(watcher.declared) == kind) watcher.change(change);
  }
}

}  // namespace berth::host
