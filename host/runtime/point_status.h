// What a plugin answered at Reserve, Permit, PreBind or Bind, as the scheduler reports it.
#ifndef BERTH_HOST_RUNTIME_POINT_STATUS_H_
#define BERTH_HOST_RUNTIME_POINT_STATUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/guard/point.h"
#include "host/runtime/plan.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// `running Reserve plugin "X": why`.
PluginStatus PointError(const PlannedPlugin& plugin, Point point, std::string_view why);

// Success; a refusal, Permit's Wait and Bind's Skip as the plugin gave them; an error for all else.
// A code that the point does not have counts as the plugin's fault, but not that PreBind and Bind
// pass on what kept them from an answer (NotFound, Conflict and the like).
// Threading: any.
PluginStatus PointStatus(const PlannedPlugin& plugin, Point point, berth_code code,
                         std::vector<std::string> reasons);

// The error that takes the place of a call while the plugin is in quarantine. None: it is not.
std::optional<PluginStatus> QuarantineError(const PlannedPlugin& plugin, Point point);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINT_STATUS_H_
