// The service berth.activate/1.
#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

berth_code Activate(const berth_host* host, const berth_str* pod_uids, uint64_t count) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kEventWord | kQueueWord | kCycleWord | kBindWord))
    return BERTH_CONFLICT;
  for (uint64_t i = 0; i < count; ++i) ServicesOf(instance).scheduler->Activate(Text(pod_uids[i]));
  return BERTH_SUCCESS;
}

constexpr berth_activate kActivate{sizeof(berth_activate), 0, Activate};

}  // namespace

ServiceInfo ActivateService() {
  return {.id = BERTH_SERVICE_ACTIVATE, .functions = &kActivate, .is_served = HasScheduler};
}

}  // namespace berth::host
