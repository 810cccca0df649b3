// The service berth.refs/1.
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "host/api/objects.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// ---- The state ----------------------------------------------------------------------------------

// Pods, nodes and objects that the plugin retains, counted. The destructor releases all.
// Threading: any; the destructor when no other thread uses it.
class RetainedObjects final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kRefs;

  explicit RetainedObjects(const InstanceHost& /*host*/) {}

  // Returns false if `object` is not the view of an object of its kind.
  // REQUIRES: if it is such a view, the object exists.
  bool Retain(const berth_tagged& object);
  // Undoes one Retain(). Returns false, and does nothing, if the plugin does not retain the object.
  bool Release(const berth_tagged& object);

 private:
  struct Retained {
    std::shared_ptr<const void> owner;
    uint32_t kind = 0;
    uint64_t count = 0;
  };

  std::mutex mutex_;                                   // Guards what follows.
  std::unordered_map<const void*, Retained> objects_;  // By the address of the view.
};

// Returns the object that has this view; null if there is none.
std::shared_ptr<const void> OwnerOf(const berth_tagged& tagged) {
  if (tagged.object == nullptr) return nullptr;
  switch (tagged.kind) {
    case BERTH_KIND_POD: return Pod::Of(*static_cast<const berth_pod*>(tagged.object));
    case BERTH_KIND_NODE: return Node::Of(*static_cast<const berth_node*>(tagged.object));
    case BERTH_KIND_OBJECT: return Object::Of(*static_cast<const berth_object*>(tagged.object));
    default: return nullptr;
  }
}

bool RetainedObjects::Retain(const berth_tagged& object) {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(object.object);
  if (found != objects_.end()) {
    if (found->second.kind != object.kind) return false;
    ++found->second.count;
    return true;
  }
  std::shared_ptr<const void> owner = OwnerOf(object);
  if (owner == nullptr) return false;
  objects_.emplace(object.object, Retained{std::move(owner), object.kind, 1});
  return true;
}

bool RetainedObjects::Release(const berth_tagged& object) {
  std::shared_ptr<const void> last;  // Destroyed after the lock is released.
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(object.object);
  if (found == objects_.end() || found->second.kind != object.kind) return false;
  if (--found->second.count != 0) return true;
  last = std::move(found->second.owner);
  objects_.erase(found);
  return true;
}

// ---- The functions ------------------------------------------------------------------------------

berth_code RetainTagged(const berth_host* host, berth_tagged object) noexcept {
  const HostUse instance(host);
  if (!instance) return BERTH_CANCELLED;
  return StateOf<RetainedObjects>(*instance).Retain(object) ? BERTH_SUCCESS : BERTH_BAD_ARGUMENT;
}

void ReleaseTagged(const berth_host* host, berth_tagged object) noexcept {
  const HostUse instance(host);
  if (!instance || StateOf<RetainedObjects>(*instance).Release(object)) return;
  instance->NoteFaultAtCurrentPoint("released an object that it does not retain");
}

constexpr berth_refs kRefs{sizeof(berth_refs), 0, RetainTagged, ReleaseTagged};

}  // namespace

ServiceInfo RefsService() {
  return {.id = BERTH_SERVICE_REFS,
          .functions = &kRefs,
          .create_state = CreateState<RetainedObjects>,
          .lifetime = StateLifetime::kReadByPlugin};
}

}  // namespace berth::host
