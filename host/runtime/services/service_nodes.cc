// The service berth.nodes/1.
#include <optional>

#include "host/base/text.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

berth_code FindNode(const berth_host* host, berth_str name, uint32_t* row) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kEventWord | kQueueWord | kCycleWord)) return BERTH_CONFLICT;
  const Row found = ServicesOf(instance).scheduler->FindNode(Text(name));
  if (found == kNoRow) return BERTH_NOT_FOUND;
  *row = found;
  return BERTH_SUCCESS;
}

berth_code PlaceRow(const berth_host* host, const berth_nodes* in, uint32_t row, uint32_t* block,
                    uint32_t* index) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kCycleWord)) return BERTH_CONFLICT;
  const berth_cycle* cycle = instance.cycle();
  if (cycle == nullptr) return BERTH_BAD_ARGUMENT;
  const PassedNodes* nodes = PassedNodes::FindPassed(*PluginCycle::FromAbi(cycle), in);
  if (nodes == nullptr) return BERTH_BAD_ARGUMENT;
  const std::optional<PassedNodes::Place> place = nodes->Find(row);
  if (!place.has_value()) return BERTH_NOT_FOUND;
  *block = place->block;
  *index = place->index;
  return BERTH_SUCCESS;
}

constexpr berth_node_lookup kNodes{sizeof(berth_node_lookup), 0, FindNode, PlaceRow};

}  // namespace

ServiceInfo NodesService() {
  return {.id = BERTH_SERVICE_NODES, .functions = &kNodes, .is_served = HasScheduler};
}

}  // namespace berth::host
