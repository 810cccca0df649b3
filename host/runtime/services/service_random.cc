// The service berth.random/1.
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

uint64_t NextRandom(const berth_host* host, const berth_cycle* cycle) noexcept {
  const HostUse use(host);
  if (!use) return 0;
  InstanceHost& instance = *use;
  if (instance.IsCalledUnder(kCycleWord) && IsCurrent(instance, cycle)) {
    return PluginCycle::FromAbi(cycle)->NextRandom();
  }
  instance.NoteFaultAtCurrentPoint(
      "asked for a random number outside [cycle], or for another cycle than that of the call");
  return 0;
}

constexpr berth_random kRandom{sizeof(berth_random), 0, NextRandom};

}  // namespace

ServiceInfo RandomService() { return {.id = BERTH_SERVICE_RANDOM, .functions = &kRandom}; }

}  // namespace berth::host
