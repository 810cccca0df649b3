// The service berth.nominator/1.
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

constexpr uint32_t kNominatorWords = kEventWord | kQueueWord | kCycleWord;

berth_code ListNominated(const berth_host* host, berth_str node,
                         int32_t (*each)(void*, const berth_pod*) noexcept, void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kNominatorWords)) return BERTH_CONFLICT;
  const auto pods = ServicesOf(instance).scheduler->nominator().PodsFor(Text(node));
  // A copy, because the callback may change the nominations.
  const std::vector<PodRef> kept(pods.begin(), pods.end());
  for (const PodRef& pod : kept) {
    if (each(to, &pod->view()) == 0) break;
  }
  return BERTH_SUCCESS;
}

berth_code ClearNomination(const berth_host* host, berth_str pod_uid) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kNominatorWords)) return BERTH_CONFLICT;
  return ServicesOf(instance).scheduler->ClearNomination(Text(pod_uid)) ? BERTH_SUCCESS
                                                                        : BERTH_NOT_FOUND;
}

berth_code EachNominated(const berth_host* host,
                         int32_t (*each)(void*, const berth_pod*, berth_str node) noexcept,
                         void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kNominatorWords)) return BERTH_CONFLICT;
  // A copy, because the callback may change the nominations.
  std::map<std::string, std::vector<PodRef>, std::less<>> kept;
  ServicesOf(instance).scheduler->nominator().ForEachNode(
      [&](std::string_view node, std::span<const PodRef> pods) {
        kept.emplace(node, std::vector<PodRef>(pods.begin(), pods.end()));
      });
  for (const auto& [node, pods] : kept) {
    for (const PodRef& pod : pods) {
      if (each(to, &pod->view(), AsStr(node)) == 0) return BERTH_SUCCESS;
    }
  }
  return BERTH_SUCCESS;
}

constexpr berth_nominator kNominator{sizeof(berth_nominator), 0, ListNominated, ClearNomination,
                                     EachNominated};

}  // namespace

ServiceInfo NominatorService() {
  return {.id = BERTH_SERVICE_NOMINATOR, .functions = &kNominator, .is_served = HasScheduler};
}

}  // namespace berth::host
