#include <mutex>
#include <string>

#include <berth/abi.h>
#include <berth/testing/argument.h>
#include <berth/testing/call.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>
#include <berth/testing/shared_states.h>
#include <berth/testing/views.h>

namespace berth::testing {

SharedStates::Registry& SharedStates::Objects() {
  static Registry& objects = *new Registry;
  return objects;
}

void SharedStates::Release() {
  Registry& registry = Objects();
  const std::lock_guard lock(registry.mutex);
  for (const std::string& key : held_) {
    const auto found = registry.objects.find({entry_, key});
    if (--found->second.holders != 0) continue;
    const Object ended = found->second;
    registry.objects.erase(found);
    ended.destroy(ended.object);
  }
  held_.clear();
}

berth_code SharedStates::Find(const berth_host* host, berth_str key, Destroy destroy,
                              void** object) noexcept {
  *object = nullptr;
  Services& services = Services::Of(host);
  if (services.is_closed()) return BERTH_CANCELLED;
  if (!Services::Expect(host, "shared.find", kLoad)) return BERTH_CONFLICT;
  SharedStates& self = services.shared();
  Registry& registry = Objects();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.objects.find({self.entry_, std::string(FromAbi(key))});
  if (found == registry.objects.end()) return BERTH_NOT_FOUND;
  if (found->second.destroy != destroy) return BERTH_BAD_ARGUMENT;
  self.Hold(found->second, std::string(FromAbi(key)));
  *object = found->second.object;
  return BERTH_SUCCESS;
}

berth_code SharedStates::Add(const berth_host* host, berth_str key, void* object,
                             Destroy destroy) noexcept {
  Services& services = Services::Of(host);
  if (services.is_closed()) return BERTH_CANCELLED;
  if (!Services::Expect(host, "shared.add", kLoad)) return BERTH_CONFLICT;
  if (key.len == 0 || object == nullptr || destroy == nullptr) return BERTH_BAD_ARGUMENT;
  SharedStates& self = services.shared();
  Registry& registry = Objects();
  const std::lock_guard lock(registry.mutex);
  const auto [added, is_new] = registry.objects.try_emplace(
      {self.entry_, std::string(FromAbi(key))}, Object{object, destroy, 0});
  if (!is_new) return BERTH_BAD_ARGUMENT;
  self.Hold(added->second, std::string(FromAbi(key)));
  return BERTH_SUCCESS;
}

const berth_shared SharedStates::kService{sizeof(berth_shared), 0, &Find, &Add};

}  // namespace berth::testing
