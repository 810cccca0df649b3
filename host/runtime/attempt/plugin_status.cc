#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

// PreBind and Bind may answer later.
bool IsAsync(Point point) { return point == Point::kPreBind || point == Point::kBind; }

bool IsAnswer(Point point, berth_code code) {
  switch (code) {
    case BERTH_SUCCESS:
    case BERTH_UNSCHEDULABLE:
    case BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE: return true;
    // From PreBind and Bind, Pending means that the answer comes later.
    case BERTH_PENDING: return !IsAsync(point);
    case BERTH_WAIT: return point == Point::kPermit;
    case BERTH_SKIP: return point == Point::kBind;
    default: return false;
  }
}

// Returns whether the code means that something kept the plugin from an answer.
bool IsObstacle(berth_code code) { return code >= BERTH_CANCELLED && code <= BERTH_CONFLICT; }

// The text in front of the reason.
std::string ErrorPrefix(const std::string& plugin, Point point, PointFunction function) {
  const std::string quoted = '"' + plugin + '"';
  switch (function) {
    case PointFunction::kMain: break;
    case PointFunction::kAddPod: return "running AddPod on PreFilter plugin " + quoted + ": ";
    case PointFunction::kRemovePod: return "running RemovePod on PreFilter plugin " + quoted + ": ";
    case PointFunction::kNormalize:
      return "running Normalize on Score plugins: plugin " + quoted + " failed with: ";
    case PointFunction::kPreFlight: return "running PreBindPreFlight " + quoted + ": ";
  }
  switch (point) {
    case Point::kFilter: return "running " + quoted + " filter plugin: ";
    case Point::kPostFilter: return "";
    case Point::kScore: return "running Score plugins: plugin " + quoted + " failed with: ";
    default: return "running " + std::string(NameOf(point)) + " plugin " + quoted + ": ";
  }
}

}  // namespace

PluginStatus PluginError(const PlannedPlugin& plugin, Point point, std::string_view why,
                         PointFunction function) {
  return PluginStatus::Error(plugin.id, ErrorPrefix(plugin.name, point, function).append(why));
}

PluginStatus AnswerError(const PlannedPlugin& plugin, Point point, const PluginAnswer& answer,
                         PointFunction function) {
  const std::string reasons = answer.Message();
  NoteBadCode(plugin, point, answer.code, reasons);
  return PluginError(plugin, point, FailureText(answer.code, reasons), function);
}

PluginStatus PointStatus(const PlannedPlugin& plugin, Point point, PluginAnswer answer) {
  if (IsRejection(answer.code) && IsAnswer(point, answer.code)) {
    return {answer.code, plugin.id, RejectionReasons(plugin.name, std::move(answer.reasons))};
  }
  if (IsAnswer(point, answer.code)) return {answer.code, plugin.id, std::move(answer.reasons)};
  if (!IsAsync(point) || !IsObstacle(answer.code)) return AnswerError(plugin, point, answer);
  return PluginError(plugin, point, FailureText(answer.code, answer.Message()));
}

PluginStatus AwaitedStatus(const PlannedPlugin& plugin, PluginAnswer answer) {
  std::erase_if(answer.reasons, [](const std::string& reason) { return reason.empty(); });
  return {BERTH_PENDING, plugin.id, std::move(answer.reasons)};
}

void NoteBadCode(const PlannedPlugin& plugin, Point point, berth_code code, std::string_view why) {
  if (code == BERTH_ERROR || code == BERTH_CANCELLED) return;
  if (code == BERTH_BUG) {
    return plugin.host->NoteFault(point, FaultKind::kException, FailureText(code, why));
  }
  std::string what = "returned " + std::string(CodeName(code));
  what.append(" (").append(std::to_string(code)).append(")");
  if (!why.empty()) what.append(": ").append(why);
  plugin.host->NoteFault(point, FaultKind::kBadCode, what);
}

bool IsQuarantined(const PlannedPlugin& plugin) {
  const PluginFaults::Account* account = plugin.host->faults();
  return account != nullptr && account->quarantined();
}

std::optional<std::string> QuarantineReason(const PlannedPlugin& plugin) {
  if (!IsQuarantined(plugin)) return std::nullopt;
  return "in quarantine: " + plugin.host->faults()->why();
}

std::optional<PluginStatus> QuarantineError(const PlannedPlugin& plugin, Point point,
                                            PointFunction function) {
  const auto why = QuarantineReason(plugin);
  if (!why.has_value()) return std::nullopt;
  return PluginError(plugin, point, *why, function);
}

}  // namespace berth::host
