// Permit: lets the pod be bound, makes it wait, or rejects it.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_PERMIT_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_PERMIT_H_

#include <cstdint>
#include <vector>

#include "host/cache/node_table.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {

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

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_PERMIT_H_
