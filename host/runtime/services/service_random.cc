// The service berth.random/1.
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

uint64_t NextRandom(const berth_host* host, const berth_cycle* cycle) noexcept {
  const HostUse use(host);
  if (!use) return 0;
  InstanceHost& instance = *use;
  if (instance.IsCalledUnder(kCycleWord) && instance.IsCurrent(cycle)) {
    return PluginCycle::FromAbi(cycle)->NextRandom();
  }
  instance.NoteFaultAtCurrentPoint(
      "asked for a random number outside [cycle], or for another cycle than that of the call");
  return 0;
}

constexpr berth_random kRandom{sizeof(berth_random), 0, NextRandom};

}  // namespace

const berth_random* RandomService() { return &kRandom; }

}  // namespace berth::host
