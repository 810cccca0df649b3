// The status of a plugin call outside blocks, and the errors that replace it when a plugin fails.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_STATUS_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/guard/point.h"
#include "host/plan/invoke.h"
#include "host/plan/plan.h"
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

// --- plugin error --------------------------------------------------------------------------------
//
// The errors that the scheduler reports when a plugin fails, in kube-scheduler's words, and the
// faults that are counted for them.

// A function of an extension point whose failures have words of their own.
enum class PointFunction : uint8_t {
  kMain,  // The function that has the point's name.
  kAddPod,
  kRemovePod,  // AddPod and RemovePod belong to PreFilter.
  kNormalize,  // NormalizeScore, which belongs to Score.
  kPreFlight,  // PreBindPreFlight, which belongs to PreBind.
};

// Returns the error of a plugin that failed for the reason `why`: `running Reserve plugin "X": why`
// and the like; at PostFilter `why` alone.
PluginStatus PluginError(const PlannedPlugin& plugin, Point point, std::string_view why,
                         PointFunction function = PointFunction::kMain);

// Returns the error of a call that gave `answer`, which is an error or which its function must not
// give, and counts the fault that lies in the answer: see NoteBadCode().
// Threading: any.
PluginStatus AnswerError(const PlannedPlugin& plugin, Point point, const PluginAnswer& answer,
                         PointFunction function = PointFunction::kMain);

// Returns what an answer at Reserve, Permit, PreBind or Bind means: success, a rejection, Permit's
// Wait and Bind's Skip as the plugin gave them; an error for every other code. A code that the
// point does not have is a fault of the plugin, except that PreBind and Bind may return the code of
// a request that failed (NotFound, Conflict and similar codes).
// Threading: any.
PluginStatus PointStatus(const PlannedPlugin& plugin, Point point, PluginAnswer answer);

// Returns what Pending from PreFilter or PreScore means: the pod waits until the plugin activates
// it. Empty reasons are left out; there may be none.
PluginStatus AwaitedStatus(const PlannedPlugin& plugin, PluginAnswer answer);

// Counts the fault that lies in a code which the called function must not return: an exception for
// BERTH_BUG, a bad code otherwise; none for BERTH_ERROR and BERTH_CANCELLED. `why` joins the
// reasons. Threading: any.
void NoteBadCode(const PlannedPlugin& plugin, Point point, berth_code code, std::string_view why);

// Returns why the plugin is quarantined; nothing if it is not. A quarantined plugin is not called
// at these points: Score, PreScore and PostFilter skip it; PreEnqueue gates the pod; PreFilter,
// Filter, Reserve, Permit, PreBind and Bind fail with this reason; a queueing hint counts as Queue;
// Entity names no entity.
// It is still called at QueueSort and HandOver, and where a call ends or follows what was begun
// (Unreserve, PostBind, Changes).
// A quarantine begins at any time, and ends only between scheduling cycles, possibly within a
// binding cycle. Threading: any.
std::optional<std::string> QuarantineReason(const PlannedPlugin& plugin);
// Costs one load. Threading: any.
bool IsQuarantined(const PlannedPlugin& plugin);
// Returns the error that replaces a call while the plugin is quarantined; nothing if it is not.
std::optional<PluginStatus> QuarantineError(const PlannedPlugin& plugin, Point point,
                                            PointFunction function = PointFunction::kMain);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_STATUS_H_
