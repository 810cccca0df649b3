// The state of the service berth.objects/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICE_OBJECTS_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICE_OBJECTS_H_

#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/cache/object_store.h"

namespace berth::host {

class InstanceHost;

// Threading: the scheduling thread.
class ObjectWatches {
 public:
  using Change = void (*)(void* to, const berth_object_change* change) noexcept;

  explicit ObjectWatches(InstanceHost& host) : host_(host) {}
  ~ObjectWatches() { Close(); }
  ObjectWatches(const ObjectWatches&) = delete;
  ObjectWatches& operator=(const ObjectWatches&) = delete;

  // Adds a watcher. `change` is called from Replay() on.
  void Add(std::string_view kind, Change change, void* to);
  void Replay();
  void Close();

 private:
  void Show(Change change, void* to, const ObjectChange& what);

  InstanceHost& host_;
  std::vector<ObjectStore::WatcherId> ids_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICE_OBJECTS_H_
