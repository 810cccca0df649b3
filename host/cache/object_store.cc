#include "host/cache/object_store.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

void ObjectStore::Set(ObjectRef object) {
  Key key(object->ns(), object->name());
  ObjectRef& place = kinds_[std::string(object->kind())][std::move(key)];
  const ObjectRef old = std::exchange(place, object);
  if (old != nullptr && old->uid() != object->uid()) {
    NotifyWatchers(object->kind(), old, nullptr);
    NotifyWatchers(object->kind(), nullptr, object);
  } else {
    NotifyWatchers(object->kind(), old, object);
  }
}

void ObjectStore::Remove(std::string_view kind, std::string_view ns, std::string_view name) {
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return;
  const auto node = objects->second.extract(Key(ns, name));
  if (!node.empty()) NotifyWatchers(kind, node.mapped(), nullptr);
}

ObjectRef ObjectStore::Get(std::string_view kind, std::string_view ns,
                           std::string_view name) const {
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return nullptr;
  const auto found = objects->second.find(Key(ns, name));
  return found != objects->second.end() ? found->second : nullptr;
}

void ObjectStore::List(std::string_view kind, std::string_view ns,
                       const std::function<bool(const ObjectRef&)>& each) const {
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return;
  auto object = ns.empty() ? objects->second.begin() : objects->second.lower_bound(Key(ns, ""));
  for (; object != objects->second.end(); ++object) {
    if (!ns.empty() && object->first.first != ns) return;
    if (!each(object->second)) return;
  }
}

size_t ObjectStore::size() const {
  size_t size = 0;
  for (const auto& [kind, objects] : kinds_) size += objects.size();
  return size;
}

ObjectStore::WatcherId ObjectStore::Watch(std::string_view kind, OnChange change) {
  watchers_.push_back({++last_watcher_, std::string(kind), std::move(change)});
  return last_watcher_;
}

void ObjectStore::Replay(WatcherId watcher) {
  const auto found = std::ranges::find(watchers_, watcher, &Watcher::id);
  BERTH_ASSERT(found != watchers_.end() && !found->replayed);
  found->replayed = true;
  List(found->kind, "", [&](const ObjectRef& object) {
    found->change(nullptr, object);
    return true;
  });
}

void ObjectStore::Unwatch(WatcherId watcher) {
  std::erase_if(watchers_, [watcher](const Watcher& known) { return known.id == watcher; });
}

void ObjectStore::NotifyWatchers(std::string_view kind, const ObjectRef& old,
                                 const ObjectRef& now) const {
  for (const Watcher& watcher : watchers_) {
    if (watcher.replayed && watcher.kind == kind) watcher.change(old, now);
  }
}

}  // namespace berth::host
