// Permit: may the pod go on to be bound, or must it wait?
#ifndef BERTH_HOST_RUNTIME_RUN_PERMIT_H_
#define BERTH_HOST_RUNTIME_RUN_PERMIT_H_

#include <cstdint>
#include <vector>

#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

struct PermitWait {
  uint32_t plugin;     // Into Plan::plugins().
  int64_t timeout_ns;  // 0 .. 15 minutes.
};

struct PermitResult {
  // Success; Wait, with the plugins' texts and `one or more plugins asked to wait and no plugin
  // rejected pod`; a plugin's refusal as it gave it; otherwise an error.
  PluginStatus status;
  std::vector<PermitWait> waits;  // Of Wait: who asked, in order.
};

// Asks every Permit plugin in order, until one refuses or fails.
// Threading: [cycle]. The attempt's state may have been taken, if it is alive.
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPermitPlugins)
PermitResult RunPermit(Attempt& attempt, Row row);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_PERMIT_H_
