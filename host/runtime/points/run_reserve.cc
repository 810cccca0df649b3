#include "host/runtime/points/run_reserve.h"

#include <utility>
#include <vector>

#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {

PluginStatus RunReserve(Attempt& attempt, Row row) {
  std::vector<berth_column> columns;
  for (const PlannedUse& use : attempt.plan().At(Point::kReserve)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (auto error = QuarantineError(plugin, Point::kReserve)) return *std::move(error);
    const berth_block block = cycle.BlockFor(row, 1, kOneIndex, columns);
    const berth_target target = TargetIn(block);
    PluginAnswer answer =
        Invoke(cycle, Point::kReserve, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.reserve()->reserve(instance.self(), abi, &target, status);
        });
    if (!answer.ok()) return PointStatus(plugin, Point::kReserve, std::move(answer));
  }
  return {};
}

// A quarantined plugin is called too: only the plugin can release what it has claimed.
void RunUnreserve(const Binding& binding) {
  const auto uses = binding.plan().At(Point::kReserve);
  for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
    const PlannedPlugin& plugin = binding.plan().plugins()[use->plugin];
    berth_binding* abi = binding.AbiFor(use->plugin, BindingCall::kEnd);
    abi->call_deadline_ns = DeadlineNs(*plugin.host, Point::kReserve);
    Invoke(plugin, Point::kReserve,
           [abi](auto& instance) { instance.reserve()->unreserve(instance.self(), abi); },
           {.pod = abi->pod});
  }
}

}  // namespace berth::host
