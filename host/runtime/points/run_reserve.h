// Reserve: lets plugins claim what the pod needs besides the node's resources.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_RESERVE_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_RESERVE_H_

#include "host/cache/node_table.h"
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

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_RESERVE_H_
