#include "host/runtime/run_post_bind.h"

#include "host/runtime/plugin_call.h"

namespace berth::host {

void RunPostBind(const Binding& binding) {
  for (const PlannedUse& use : binding.plan().At(Point::kPostBind)) {
    const PlannedPlugin& plugin = binding.plan().plugins()[use.plugin];
    const berth_binding* abi = binding.AbiFor(use.plugin);
    const PluginCall call(plugin, Point::kPostBind, abi->pod);
    plugin.instance->post_bind()->post_bind(plugin.instance->self(), abi);
  }
}

}  // namespace berth::host
