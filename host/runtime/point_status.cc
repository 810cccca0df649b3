#include "host/runtime/point_status.h"

#include <utility>

#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"

namespace berth::host {
namespace {

bool IsAsync(Point point) { return point == Point::kPreBind || point == Point::kBind; }

bool IsAnswer(Point point, berth_code code) {
  switch (code) {
    case BERTH_SUCCESS:
    case BERTH_UNSCHEDULABLE:
    case BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE: return true;
    // Of PreBind and Bind it says "later", and once that has come nothing.
    case BERTH_PENDING: return !IsAsync(point);
    case BERTH_WAIT: return point == Point::kPermit;
    case BERTH_SKIP: return point == Point::kBind;
    default: return false;
  }
}

bool SaysWhyThereIsNoAnswer(berth_code code) {
  return code >= BERTH_CANCELLED && code <= BERTH_CONFLICT;
}

}  // namespace

PluginStatus PointError(const PlannedPlugin& plugin, Point point, std::string_view why) {
  std::string text = "running " + std::string(InfoOf(point).name) + " plugin \"" + plugin.name;
  return {BERTH_ERROR, plugin.name, {text.append("\": ").append(why)}};
}

PluginStatus PointStatus(const PlannedPlugin& plugin, Point point, berth_code code,
                         std::vector<std::string> reasons) {
  if (IsAnswer(point, code)) return {code, plugin.name, std::move(reasons)};
  const std::string said = Join(reasons, ", ");
  if (!IsAsync(point) || !SaysWhyThereIsNoAnswer(code)) NoteCode(plugin, point, code, said);
  return PointError(plugin, point, WhyFailed(code, said));
}

std::optional<PluginStatus> QuarantineError(const PlannedPlugin& plugin, Point point) {
  std::string_view why;
  if (!IsQuarantined(plugin, &why)) return std::nullopt;
  return PointError(plugin, point, why);
}

}  // namespace berth::host
