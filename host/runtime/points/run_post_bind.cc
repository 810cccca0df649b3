#include "host/runtime/points/run_post_bind.h"

#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {

void RunPostBind(const Binding& binding) {
  for (const PlannedUse& use : binding.plan().At(Point::kPostBind)) {
    const PlannedPlugin& plugin = binding.plan().plugins()[use.plugin];
    berth_binding* abi = binding.AbiFor(use.plugin, BindingCall::kEnd);
    abi->call_deadline_ns = DeadlineNs(*plugin.host, Point::kPostBind);
    Invoke(plugin, Point::kPostBind,
           [abi](auto& instance) { instance.post_bind()->post_bind(instance.self(), abi); },
           {.pod = abi->pod});
  }
}

}  // namespace berth::host
