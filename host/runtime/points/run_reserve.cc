#include "host/runtime/points/run_reserve.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/time_units.h"
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

// --- run permit ----------------------------------------------------------------------------------

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
