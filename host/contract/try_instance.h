// Creates one plugin instance to find out whether the host accepts it.
#ifndef BERTH_HOST_CONTRACT_TRY_INSTANCE_H_
#define BERTH_HOST_CONTRACT_TRY_INSTANCE_H_

#include <functional>
#include <optional>

#include "host/guard/call_monitor.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"

namespace berth::host {

// Creates the plugin with the code and the services with which the host creates the plugins of a
// profile, for all its extension points and without pods and nodes, and destroys it again. The
// arguments are not checked against the plugin's schema before. `report_crashes` may be empty; it
// is called with the monitor of the calls before the plugin is created, and with null at the end.
// Returns why the host rejects the plugin, or nullopt if the host accepts it.
// Errors: those of Plan::TryPlugin.
// Threading: [load].
std::optional<LoadError> TryInstance(
    const PluginSpec& spec, const PluginCatalog& catalog,
    const std::function<void(const CallMonitor* monitor)>& report_crashes);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_TRY_INSTANCE_H_
