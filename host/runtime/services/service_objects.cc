// The service berth.objects/1.
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/cache/object_store.h"
#include "host/plan/invoke.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// ---- The state ----------------------------------------------------------------------------------

// The watches of one instance.
// Threading: the scheduling thread.
class ObjectWatches final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kObjects;
  using Change = void (*)(void* to, const berth_object_change* change) noexcept;

  explicit ObjectWatches(InstanceHost& host) : host_(host) {}
  ~ObjectWatches() override { Unwatch(); }

  // Adds a watcher. `change` is called from Begin() on.
  void Add(std::string_view kind, Change change, void* to);
  void Begin() override;
  void Stop() override { Unwatch(); }
  void Drop() override { Unwatch(); }

 private:
  void Unwatch();
  void Show(Change change, void* to, const ObjectChange& what);

  InstanceHost& host_;
  std::vector<ObjectStore::WatcherId> ids_;
};

void ObjectWatches::Add(std::string_view kind, Change change, void* to) {
  ids_.push_back(ServicesOf(host_).objects.Watch(
      kind, [this, change, to](const ObjectChange& what) { Show(change, to, what); }));
}

void ObjectWatches::Begin() {
  for (const ObjectStore::WatcherId id : ids_) ServicesOf(host_).objects.Replay(id);
}

void ObjectWatches::Unwatch() {
  for (const ObjectStore::WatcherId id : ids_) ServicesOf(host_).objects.Unwatch(id);
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

// ---- The functions ------------------------------------------------------------------------------

// Objects may be looked up wherever the scheduling thread calls a plugin, except in a block.
constexpr uint32_t kLookWords = kEventWord | kQueueWord | kCycleWord | kBindWord;

berth_code GetObject(const berth_host* host, berth_str kind, berth_str ns, berth_str name,
                     const berth_object** object) noexcept {
  *object = nullptr;
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLookWords)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) return BERTH_BAD_ARGUMENT;
  const ObjectStore& objects = ServicesOf(instance).objects;
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
  const ObjectStore& objects = ServicesOf(instance).objects;
  if (!objects.IsAvailable(Text(kind))) return BERTH_UNSUPPORTED;
  objects.List(Text(kind), Text(ns),
               [&](const ObjectRef& object) { return each(to, &object->view()) != 0; });
  return BERTH_SUCCESS;
}

berth_code IsServed(const berth_host* host, berth_str kind) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLookWords)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) return BERTH_BAD_ARGUMENT;
  return ServicesOf(instance).objects.IsAvailable(Text(kind)) ? BERTH_SUCCESS : BERTH_UNSUPPORTED;
}

berth_code WatchObjects(const berth_host* host, berth_str kind, ObjectWatches::Change change,
                        void* to) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (instance.is_closed()) return BERTH_CANCELLED;
  if (!instance.IsCalledUnder(kLoadWord)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) {
    const std::string expected = WhyNotDeclarable(Text(kind));
    // A plugin that watches pods or nodes would otherwise wait for them without an error.
    if (!expected.empty()) instance.Reject({"a watch of " + expected, Quoted(Text(kind))});
    return BERTH_BAD_ARGUMENT;
  }
  if (change == nullptr) return BERTH_BAD_ARGUMENT;
  StateOf<ObjectWatches>(instance).Add(Text(kind), change, to);
  return BERTH_SUCCESS;
}

constexpr berth_objects kObjects{sizeof(berth_objects), 0,        GetObject,
                                 ListObjects,           IsServed, WatchObjects};

}  // namespace

ServiceInfo ObjectsService() {
  return {.id = BERTH_SERVICE_OBJECTS,
          .functions = &kObjects,
          .create_state = CreateState<ObjectWatches>};
}

}  // namespace berth::host
