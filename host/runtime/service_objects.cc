// The service berth.objects/1.
#include "host/runtime/service_objects.h"

#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/invoke.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

// Objects may be looked up wherever the scheduling thread calls a plugin, except in a block.
constexpr uint32_t kLookWords = kEventWord | kQueueWord | kCycleWord | kBindWord;

const berth_object* GetObject(const berth_host* host, berth_str kind, berth_str ns,
                              berth_str name) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLookWords) || !instance.Declared(Text(kind))) return nullptr;
  const ObjectRef object = instance.services().objects.Get(Text(kind), Text(ns), Text(name));
  return object != nullptr ? &object->view() : nullptr;
}

berth_code ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                       int32_t (*each)(void*, const berth_object*), void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.Declared(Text(kind))) return BERTH_NOT_FOUND;
  if (!instance.IsCalledUnder(kLookWords)) return BERTH_CONFLICT;
  instance.services().objects.List(Text(kind), Text(ns), [&](const ObjectRef& object) {
    return each(to, &object->view()) != 0;
  });
  return BERTH_SUCCESS;
}

berth_code WatchObjects(const berth_host* host, berth_str kind, ObjectWatches::Change change,
                        void* to) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.Declared(Text(kind))) return BERTH_NOT_FOUND;
  if (change == nullptr) return BERTH_BAD_ARGUMENT;
  if (!instance.IsCalledUnder(kLoadWord)) return BERTH_CONFLICT;
  instance.watches().Add(Text(kind), change, to);
  return BERTH_SUCCESS;
}

constexpr berth_objects kObjects{sizeof(berth_objects), 0, GetObject, ListObjects, WatchObjects};

}  // namespace

const berth_objects* ObjectsService() { return &kObjects; }

// ---- ObjectWatches ------------------------------------------------------------------------------

void ObjectWatches::Add(std::string_view kind, Change change, void* to) {
  ids_.push_back(host_.services().objects.Watch(
      kind, [this, change, to](const ObjectRef& old, const ObjectRef& now) {
        Show(change, to, old, now);
      }));
}

void ObjectWatches::Replay() {
  for (const ObjectStore::WatcherId id : ids_) host_.services().objects.Replay(id);
}

void ObjectWatches::Close() {
  for (const ObjectStore::WatcherId id : ids_) host_.services().objects.Unwatch(id);
  ids_.clear();
}

void ObjectWatches::Show(Change change, void* to, const ObjectRef& old, const ObjectRef& now) {
  Invoke(host_, kCallback, [&] {
    change(to, old != nullptr ? &old->view() : nullptr, now != nullptr ? &now->view() : nullptr);
  });
}

}  // namespace berth::host
