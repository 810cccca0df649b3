// The service berth.objects/1.
#include "host/runtime/services/service_objects.h"

#include <string>

#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/invoke.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// Objects may be looked up wherever the scheduling thread calls a plugin, except in a block.
constexpr uint32_t kLookWords = kEventWord | kQueueWord | kCycleWord | kBindWord;

berth_code GetObject(const berth_host* host, berth_str kind, berth_str ns, berth_str name,
                     const berth_object** object) noexcept {
  *object = nullptr;
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLookWords)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) return BERTH_BAD_ARGUMENT;
  const ObjectStore& objects = instance.services().objects;
  if (!objects.IsAvailable(Text(kind))) return BERTH_UNSUPPORTED;
  const ObjectRef found = objects.Get(Text(kind), Text(ns), Text(name));
  if (found == nullptr) return BERTH_NOT_FOUND;
  *object = &found->view();
  return BERTH_SUCCESS;
}

berth_code ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                       int32_t (*each)(void*, const berth_object*) noexcept, void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLookWords)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) return BERTH_BAD_ARGUMENT;
  const ObjectStore& objects = instance.services().objects;
  if (!objects.IsAvailable(Text(kind))) return BERTH_UNSUPPORTED;
  objects.List(Text(kind), Text(ns),
               [&](const ObjectRef& object) { return each(to, &object->view()) != 0; });
  return BERTH_SUCCESS;
}

berth_code IsServed(const berth_host* host, berth_str kind) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLookWords)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) return BERTH_BAD_ARGUMENT;
  return instance.services().objects.IsAvailable(Text(kind)) ? BERTH_SUCCESS : BERTH_UNSUPPORTED;
}

berth_code WatchObjects(const berth_host* host, berth_str kind, ObjectWatches::Change change,
                        void* to) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (instance.is_closed()) return BERTH_CANCELLED;
  if (!instance.IsCalledUnder(kLoadWord)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) {
    const std::string expected = WhyNotDeclarable(Text(kind));
    // A plugin that watches pods or nodes would otherwise wait for them without an error.
    if (!expected.empty()) instance.Refuse({"a watch of " + expected, Quoted(Text(kind))});
    return BERTH_BAD_ARGUMENT;
  }
  if (change == nullptr) return BERTH_BAD_ARGUMENT;
  instance.watches().Add(Text(kind), change, to);
  return BERTH_SUCCESS;
}

constexpr berth_objects kObjects{sizeof(berth_objects), 0,        GetObject,
                                 ListObjects,           IsServed, WatchObjects};

}  // namespace

const berth_objects* ObjectsService() { return &kObjects; }

// ---- ObjectWatches ------------------------------------------------------------------------------

void ObjectWatches::Add(std::string_view kind, Change change, void* to) {
  ids_.push_back(host_.services().objects.Watch(
      kind, [this, change, to](const ObjectChange& what) { Show(change, to, what); }));
}

void ObjectWatches::Replay() {
  for (const ObjectStore::WatcherId id : ids_) host_.services().objects.Replay(id);
}

void ObjectWatches::Close() {
  for (const ObjectStore::WatcherId id : ids_) host_.services().objects.Unwatch(id);
  ids_.clear();
}

void ObjectWatches::Show(Change change, void* to, const ObjectChange& what) {
  const berth_object* const old = what.old != nullptr ? &what.old->view() : nullptr;
  const berth_object* const now = what.now != nullptr ? &what.now->view() : nullptr;
  const berth_object_change view{.struct_size = sizeof(view),
                                 .flags = what.existed ? uint32_t{BERTH_OBJECT_FLAG_REPLAY} : 0,
                                 .kind = (now != nullptr ? now : old)->kind,
                                 .reserved = 0,
                                 .old = old,
                                 .now = now};
  Invoke(host_, kCallback, [&] { change(to, &view); });
}

}  // namespace berth::host
