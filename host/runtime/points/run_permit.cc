#include "host/runtime/points/run_permit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/time_units.h"
#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {
namespace {

// kube-scheduler: maxTimeout.
constexpr int64_t kMaxTimeoutNs = 15 * 60 * kSecond;

}  // namespace

PermitResult RunPermit(Attempt& attempt, Row row) {
  std::vector<berth_column> columns;
  PermitResult result;
  for (const PlannedUse& use : attempt.plan().At(Point::kPermit)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (auto error = QuarantineError(plugin, Point::kPermit)) return {*std::move(error), {}};
    const berth_block block = cycle.BlockFor(row, 1, kOneIndex, columns);
    const berth_target target = TargetIn(block);
    berth_permit_out out{.struct_size = sizeof(out), .reserved = 0, .timeout_ns = 0};
    PluginAnswer answer =
        Invoke(cycle, Point::kPermit, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.permit()->permit(instance.self(), abi, &target, &out, status);
        });
    if (answer.ok()) continue;
    if (answer.code != BERTH_WAIT) {
      return {PointStatus(plugin, Point::kPermit, std::move(answer)), {}};
    }
    std::ranges::move(answer.reasons, std::back_inserter(result.status.reasons));
    result.waits.push_back({use.plugin, std::clamp<int64_t>(out.timeout_ns, 0, kMaxTimeoutNs)});
  }
  if (result.waits.empty()) return result;
  result.status.code = BERTH_WAIT;
  result.status.reasons.emplace_back(
      "one or more plugins asked to wait and no plugin rejected pod");
  return result;
}

}  // namespace berth::host
