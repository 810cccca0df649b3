#include "host/runtime/points/run_attempt_failed.h"

#include "host/base/text.h"
#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {

void RunAttemptFailed(const Plan& plan, const FailedAttempt& attempt) {
  if (plan.At(Point::kAttemptFailed).empty()) return;
  std::vector<berth_str> names;
  for (const std::string_view name : attempt.plugins) names.push_back(AsStr(name));
  const berth_failed_attempt abi = {
      .struct_size = sizeof(abi),
      .flags = (attempt.is_parked ? uint32_t{BERTH_FAILED_PARKED} : 0) |
               (attempt.is_final ? uint32_t{BERTH_FAILED_FINAL} : 0),
      .pod = &attempt.pod,
      .code = attempt.code,
      .reserved = 0,
      .node = AsStr(attempt.node),
      .message = AsStr(attempt.message),
      .plugins = {names.data(), static_cast<uint32_t>(names.size()), sizeof(berth_str)}};
  for (const PlannedUse& use : plan.At(Point::kAttemptFailed)) {
    const PlannedPlugin& plugin = plan.plugins()[use.plugin];
    Invoke(plugin, Point::kAttemptFailed,
           [&abi](auto& instance) {
             instance.attempt_failed()->attempt_failed(instance.self(), &abi);
           },
           {.pod = &attempt.pod});
  }
}

}  // namespace berth::host
