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

void SharedStates::Release() {
  const std::lock_guard lock(objects_->mutex_);
  for (const std::string& key : held_) {
    const auto found = objects_->objects_.find(key);
    if (--found->second.holders != 0) continue;
    const SharedObjects::Object ended = found->second;
    objects_->objects_.erase(found);
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
  const std::lock_guard lock(self.objects_->mutex_);
  const auto found = self.objects_->objects_.find(std::string(FromAbi(key)));
  if (found == self.objects_->objects_.end()) return BERTH_NOT_FOUND;
  if (found->second.destroy != destroy) return BERTH_BAD_ARGUMENT;
  self.Hold(found->second, found->first);
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
  const std::lock_guard lock(self.objects_->mutex_);
  const auto [added, is_new] = self.objects_->objects_.try_emplace(
      std::string(FromAbi(key)), SharedObjects::Object{object, destroy, 0});
  if (!is_new) return BERTH_BAD_ARGUMENT;
  self.Hold(added->second, added->first);
  return BERTH_SUCCESS;
}

const berth_shared SharedStates::kService{sizeof(berth_shared), 0, &Find, &Add};

}  // namespace berth::testing
