// Tries profiles on a cluster in memory before a scheduler runs them.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_TRIAL_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_TRIAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/plan/plan.h"
#include "host/process/assemble/plugin_set.h"

namespace berth::host {

class CallMonitor;

// Creates the plugins of these profiles against an empty cluster and destroys them again, because
// plugins check their arguments when they are created.
// Errors: those of SchedulerHost::Start, one per line.
// `report_crashes`: see SchedulerOptions::report_crashes. May be empty.
Status TryCreatePlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
                        const std::function<void(const CallMonitor* monitor)>& report_crashes);

// Creates the plugins like TryCreatePlugins(), and lets each profile decide about a pod without
// requests and constraints, on two empty nodes without labels, up to Permit; Reserve is undone. A
// plugin that returns an error there usually returns it for other pods too, for example if the
// profile selects its Filter without the PreFilter that Filter requires.
// `steady_ns`: the clock of the watchdog over the plugin calls; see SchedulerHost::StartWatchdog().
// Returns: for each profile the error of its attempt; "" if the pod got a node or was rejected.
// Errors:  those of TryCreatePlugins.
Result<std::vector<std::string>> TryProfiles(
    std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
    std::function<int64_t()> steady_ns,
    const std::function<void(const CallMonitor* monitor)>& report_crashes);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_TRIAL_H_
