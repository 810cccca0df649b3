// Invoke() for the functions of an extension point that receive the cycle of an attempt.
//
//   PluginAnswer answer = Invoke(
//       cycle, Point::kReserve, [&](auto& instance, auto* abi, berth_status* status) {
//         return instance.reserve()->reserve(instance.self(), abi, &target, status);
//       });
//   if (!answer.ok()) return PointStatus(cycle.plugin(), Point::kReserve, std::move(answer));
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_INVOKE_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_INVOKE_H_

#include <concepts>
#include <cstdint>

#include <berth/abi.h>

#include "host/guard/point.h"
#include "host/plan/instance_host.h"
#include "host/plan/invoke.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/point_meter.h"

namespace berth::host {

// Calls `f(instance, cycle, status)` inside a PluginCall and returns its answer. `cycle` carries
// the deadline of this call. `words`: see CalledFunction.
template <std::invocable<const PluginInstance&, const berth_cycle*, berth_status*> F>
PluginAnswer Invoke(PluginCycle& cycle, Point point, F&& f, uint32_t words = 0) {
  const berth_cycle* abi = cycle.AbiFor(point);
  const PlannedPlugin& plugin = cycle.plugin();
  const PluginCall call(*plugin.host, {.point = point, .cycle = abi, .words = words});
  cycle.NoteCall(point);
  PointMeter* const meter = cycle.call_meter();
  const int64_t since_ns = meter != nullptr ? meter->NowNs() : 0;
  PluginAnswer answer =
      CallWithStatus([&](berth_status* status) { return f(*plugin.instance, abi, status); });
  if (meter != nullptr) {
    meter->ObserveCall(plugin.id, plugin.name, point, answer.code, since_ns);
  }
  return answer;
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_INVOKE_H_
