#include "host/runtime/run_permit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/point_status.h"

namespace berth::host {
namespace {

// kube-scheduler: maxTimeout.
constexpr int64_t kMaxTimeoutNs = int64_t{15} * 60 * 1'000'000'000;

}  // namespace

PermitResult RunPermit(Attempt& attempt, Row row) {
  const berth_target target{
      .struct_size = sizeof(berth_target), .row = row, .node = attempt.table().node_views()[row]};
  PermitResult result;
  for (const PlannedUse& use : attempt.plan().At(Point::kPermit)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (auto error = QuarantineError(plugin, Point::kPermit)) return {*std::move(error), {}};
    const PluginInstance& instance = *plugin.instance;
    StatusSink sink;
    int64_t timeout_ns = 0;
    berth_code code = BERTH_SUCCESS;
    const berth_cycle* abi = cycle.AbiFor(Point::kPermit);
    {
      const PluginCall call(plugin, Point::kPermit);
      code = instance.permit()->permit(instance.self(), abi, &target, &timeout_ns, sink.raw());
    }
    if (code == BERTH_SUCCESS) continue;
    std::vector<std::string> reasons(sink.reasons().begin(), sink.reasons().end());
    if (code != BERTH_WAIT) {
      return {PointStatus(plugin, Point::kPermit, code, std::move(reasons)), {}};
    }
    std::ranges::move(reasons, std::back_inserter(result.status.reasons));
    result.waits.push_back({use.plugin, std::clamp<int64_t>(timeout_ns, 0, kMaxTimeoutNs)});
  }
  if (result.waits.empty()) return result;
  result.status.code = BERTH_WAIT;
  result.status.reasons.emplace_back(
      "one or more plugins asked to wait and no plugin rejected pod");
  return result;
}

}  // namespace berth::host
