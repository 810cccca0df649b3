#include "host/runtime/run_reserve.h"

#include <utility>

#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/point_status.h"

namespace berth::host {

PluginStatus RunReserve(Attempt& attempt, Row row) {
  const berth_target target{
      .struct_size = sizeof(berth_target), .row = row, .node = attempt.table().node_views()[row]};
  for (const PlannedUse& use : attempt.plan().At(Point::kReserve)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (auto error = QuarantineError(plugin, Point::kReserve)) return *std::move(error);
    const PluginInstance& instance = *plugin.instance;
    StatusSink sink;
    berth_code code = BERTH_SUCCESS;
    const berth_cycle* abi = cycle.AbiFor(Point::kReserve);
    {
      const PluginCall call(plugin, Point::kReserve);
      code = instance.reserve()->reserve(instance.self(), abi, &target, sink.raw());
    }
    if (code == BERTH_SUCCESS) continue;
    return PointStatus(plugin, Point::kReserve, code,
                       {sink.reasons().begin(), sink.reasons().end()});
  }
  return {};
}

// A plugin in quarantine is called too: what it has claimed, only it can give back.
void RunUnreserve(const Binding& binding) {
  const auto uses = binding.plan().At(Point::kReserve);
  for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
    const PlannedPlugin& plugin = binding.plan().plugins()[use->plugin];
    const berth_binding* abi = binding.AbiFor(use->plugin);
    const PluginCall call(plugin, Point::kReserve, abi->pod);
    plugin.instance->reserve()->unreserve(plugin.instance->self(), abi);
  }
}

}  // namespace berth::host
