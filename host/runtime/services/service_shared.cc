// berth.shared/1.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/text.h"
#include "host/plan/invoke.h"
#include "host/runtime/services/services.h"

namespace berth::host {

// The objects of all libraries.
// Threading: the scheduling thread.
class SharedObjects {
 public:
  using Destroy = void (*)(void* object) noexcept;

  // Given by a plugin; the last instance that holds it calls `destroy`.
  struct Object {
    void* object;
    Destroy destroy;
  };
  using Ref = std::shared_ptr<const Object>;

  // Returns the library's object of this key, or null.
  Ref Find(const void* library, std::string_view key) const {
    const auto found = objects_.find({library, std::string(key)});
    return found != objects_.end() ? found->second.lock() : nullptr;
  }
  // REQUIRES: Find() returns null.
  Ref Add(const void* library, std::string_view key, Object object) {
    // An entry whose object has ended stays, until another object takes its place: keys are few.
    auto added = std::make_shared<const Object>(object);
    objects_[{library, std::string(key)}] = added;
    return added;
  }

 private:
  std::map<std::pair<const void*, std::string>, std::weak_ptr<const Object>> objects_;
};

std::shared_ptr<SharedObjects> NewSharedObjects() { return std::make_shared<SharedObjects>(); }

namespace {

// The shared objects that one instance holds.
// Threading: the scheduling thread.
// Lifetime:  until the instance is destroyed; for ever if it never is.
class HeldObjects final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kShared;

  explicit HeldObjects(InstanceHost& host) : host_(host) {}

  void Hold(SharedObjects::Ref object) { held_.push_back(std::move(object)); }
  void GiveBack() override {
    for (SharedObjects::Ref& each : std::exchange(held_, {})) Release(std::move(each));
  }

 private:
  void Release(SharedObjects::Ref object) const {
    if (object.use_count() > 1) return;
    Invoke(host_, kLoad, [&object] { object->destroy(object->object); });
  }

  InstanceHost& host_;
  std::vector<SharedObjects::Ref> held_;
};

// Returns SUCCESS if the instance may use shared objects in the call in progress.
berth_code MayShare(const InstanceHost& instance) {
  if (instance.is_closed()) return BERTH_CANCELLED;
  return instance.IsCalledUnder(kLoadWord) ? BERTH_SUCCESS : BERTH_CONFLICT;
}

berth_code FindShared(const berth_host* host, berth_str key, SharedObjects::Destroy destroy,
                      void** object) noexcept {
  *object = nullptr;
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (const berth_code code = MayShare(instance); code != BERTH_SUCCESS) return code;
  SharedObjects::Ref found = ServicesOf(instance).shared->Find(instance.library_id(), Text(key));
  if (found == nullptr) return BERTH_NOT_FOUND;
  if (found->destroy != destroy) return BERTH_BAD_ARGUMENT;
  *object = found->object;
  StateOf<HeldObjects>(instance).Hold(std::move(found));
  return BERTH_SUCCESS;
}

berth_code AddShared(const berth_host* host, berth_str key, void* object,
                     SharedObjects::Destroy destroy) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (const berth_code code = MayShare(instance); code != BERTH_SUCCESS) return code;
  SharedObjects& shared = *ServicesOf(instance).shared;
  const void* const library = instance.library_id();
  if (key.len == 0 || object == nullptr || destroy == nullptr ||
      shared.Find(library, Text(key)) != nullptr) {
    return BERTH_BAD_ARGUMENT;
  }
  StateOf<HeldObjects>(instance).Hold(shared.Add(library, Text(key), {object, destroy}));
  return BERTH_SUCCESS;
}

constexpr berth_shared kShared{sizeof(berth_shared), 0, FindShared, AddShared};

}  // namespace

std::span<const ServiceInfo> SharedServices() {
  static const std::array services{ServiceInfo{.id = BERTH_SERVICE_SHARED,
                                               .functions = &kShared,
                                               .create_state = CreateState<HeldObjects>,
                                               .lifetime = StateLifetime::kReadByPlugin}};
  return services;
}

}  // namespace berth::host
