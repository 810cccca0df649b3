// The service berth.random/1.
#include "host/runtime/instance_host.h"
#include "host/runtime/plugin_cycle.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

uint64_t NextRandom(const berth_host* host, const berth_cycle* cycle) noexcept {
  const HostUse use(host);
  if (!use) return 0;
  InstanceHost& instance = *use;
  const bool is_own = cycle != nullptr && instance.IsCalledUnder(kCycleWord) &&
                      PluginCycle::FromAbi(cycle)->plugin().host.get() == &instance;
  if (is_own) return PluginCycle::FromAbi(cycle)->NextRandom();
  instance.NoteFaultAtCurrentPoint(
      "asked for a random number outside [cycle], or for the cycle of another instance");
  return 0;
}

constexpr berth_random kRandom{sizeof(berth_random), 0, NextRandom};

}  // namespace

const berth_random* RandomService() { return &kRandom; }

}  // namespace berth::host
