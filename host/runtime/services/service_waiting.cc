// The service berth.waiting/1.
#include <string>

#include "host/base/foreign_struct.h"
#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

constexpr uint32_t kWaitingWords = kEventWord | kQueueWord | kCycleWord | kBindWord;

berth_code EachWaiting(const berth_host* host, int32_t (*each)(void*, const berth_pod*) noexcept,
                       void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kWaitingWords)) return BERTH_CONFLICT;
  // A copy, because the callback may allow and reject pods.
  for (const PodRef& pod : ServicesOf(instance).scheduler->Waiting(instance.id())) {
    if (each(to, &pod->view()) == 0) break;
  }
  return BERTH_SUCCESS;
}

berth_code Allow(const berth_host* host, berth_str pod_uid) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kWaitingWords)) return BERTH_CONFLICT;
  const bool waits = ServicesOf(instance).scheduler->Allow(Text(pod_uid), instance.id());
  return waits ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

berth_code Reject(const berth_host* host, const berth_rejection* rejection) noexcept {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_rejection, reason);
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kWaitingWords)) return BERTH_CONFLICT;
  if (!IsReadable(*rejection, kFirstSize)) return BERTH_BAD_ARGUMENT;
  const berth_str reason = rejection->reason;
  std::string text = KeptReason(Text(reason));
  if (IsNull(reason)) text = NullReason(instance.plugin());
  if (text.empty()) text = NoReason(instance.plugin());
  const bool waits =
      ServicesOf(instance).scheduler->Reject(Text(rejection->pod_uid), instance.id(), text);
  return waits ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

constexpr berth_waiting kWaiting{sizeof(berth_waiting), 0, EachWaiting, Allow, Reject};

}  // namespace

ServiceInfo WaitingService() {
  return {.id = BERTH_SERVICE_WAITING, .functions = &kWaiting, .is_served = HasScheduler};
}

}  // namespace berth::host
