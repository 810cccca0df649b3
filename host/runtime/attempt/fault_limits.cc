#include "host/runtime/attempt/fault_limits.h"

namespace berth::host {

FaultLimits::FaultLimits(Attempt& attempt, Point point) {
  for (const PlannedUse& use : attempt.plan().At(point)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    limits_.emplace_back(*cycle.plugin().host, cycle.what_if_faults());
  }
}

}  // namespace berth::host
