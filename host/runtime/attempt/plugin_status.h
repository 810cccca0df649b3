// The status of a plugin call outside blocks.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_STATUS_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_STATUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Unschedulable, UnschedulableAndUnresolvable and Pending reject the pod; they are no errors.
constexpr bool IsRejection(berth_code code) {
  return code == BERTH_UNSCHEDULABLE || code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE ||
         code == BERTH_PENDING;
}

// Return the reason in place of one that the plugin did not give.
inline std::string NoReason(std::string_view plugin) {
  return std::string(plugin) + " gave no reason";
}
inline std::string NullReason(std::string_view plugin) {
  return std::string(plugin).append(" ").append(kNullReason);
}

// Returns the reasons of a rejection by the plugin without the empty ones, or NoReason() if none is
// left.
inline std::vector<std::string> RejectionReasons(std::string_view plugin,
                                                 std::vector<std::string> reasons) {
  std::erase_if(reasons, [](const std::string& reason) { return reason.empty(); });
  if (reasons.empty()) reasons.push_back(NoReason(plugin));
  return reasons;
}

// A code, the plugin that gave it, and its reasons.
struct PluginStatus {
  berth_code code = BERTH_SUCCESS;
  // Empty when the host itself decided and no plugin did.
  std::optional<PluginId> plugin = {};
  std::vector<std::string> reasons = {};

  // `plugin`: empty when the host failed and no plugin did.
  static PluginStatus Error(std::optional<PluginId> plugin, std::string why) {
    return {BERTH_ERROR, plugin, {std::move(why)}};
  }

  bool ok() const { return code == BERTH_SUCCESS; }
  bool rejected() const { return IsRejection(code); }
  // The reasons, joined with ", " as kube-scheduler's Status.Message() does.
  std::string Message() const { return Join(reasons, ", "); }
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_STATUS_H_
