#include "host/cache/object_store.h"

namespace berth::host {

void ObjectStore::Set(ObjectRef object) {
  Key key(object->ns(), object->name());
  Objects& objects = kinds_[std::string(object->kind())];
  objects.insert_or_assign(std::move(key), std::move(object));
}

void ObjectStore::Remove(std::string_view kind, std::string_view ns, std::string_view name) {
  if (const auto objects = kinds_.find(kind); objects != kinds_.end()) {
    objects->second.erase(Key(ns, name));
  }
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

}  // namespace berth::host
