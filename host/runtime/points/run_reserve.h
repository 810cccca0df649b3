// Reserve, which lets plugins claim what the pod needs besides the node's resources, and Permit.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_RESERVE_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_RESERVE_H_

#include <cstdint>
#include <vector>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {

// Calls the Reserve plugins in order, until one does not succeed.
//
// Threading: [cycle]. The attempt's state may have been taken, but must exist.
// Returns:   success; a rejection as the plugin gave it; otherwise an error with
//            `running Reserve plugin "X": ...`. Unless it succeeds, the caller must call
//            RunUnreserve().
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go,
//            RunReservePluginsReserve)
PluginStatus RunReserve(Attempt& attempt, Row row);

// Undoes Reserve: calls Unreserve of all plugins of the point, in reverse order, whether their
// Reserve ran or not.
// Threading: [cycle] or [event].
void RunUnreserve(const Binding& binding);

// --- run permit ----------------------------------------------------------------------------------
//
// Permit: lets the pod be bound, makes it wait, or rejects it.

struct PermitWait {
  uint32_t plugin;     // Into Plan::plugins().
  int64_t timeout_ns;  // 0 .. 15 minutes.
};

struct PermitResult {
  // Success; Wait, with the plugins' reasons and `one or more plugins asked to wait and no plugin
  // rejected pod`; a rejection as the plugin gave it; otherwise an error.
  PluginStatus status;
  std::vector<PermitWait> waits;  // If the status is Wait: the plugins that asked for it, in order.
};

// Calls the Permit plugins in order, until one rejects or fails.
// Threading: [cycle]. The attempt's state may have been taken, but must exist.
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPermitPlugins)
PermitResult RunPermit(Attempt& attempt, Row row);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_RESERVE_H_
