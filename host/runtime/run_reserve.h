// Reserve: claim what the pod needs beside the node's resources.
#ifndef BERTH_HOST_RUNTIME_RUN_RESERVE_H_
#define BERTH_HOST_RUNTIME_RUN_RESERVE_H_

#include "host/runtime/attempt.h"
#include "host/runtime/binding.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Asks every Reserve plugin in order; the first that does not succeed ends it.
//
// Threading: [cycle]. The attempt's state may have been taken, if it is alive.
// Returns:   success; a plugin's refusal as it gave it; otherwise an error with
//            `running Reserve plugin "X": ...`. RunUnreserve() is then due.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go,
//            RunReservePluginsReserve)
PluginStatus RunReserve(Attempt& attempt, Row row);

// Takes back what Reserve claimed: every plugin of the point, in reverse order, whether its Reserve
// ran or not.
// Threading: [cycle] or [event].
void RunUnreserve(const Binding& binding);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_RESERVE_H_
