// What a plugin answered outside the blocks.
#ifndef BERTH_HOST_RUNTIME_PLUGIN_STATUS_H_
#define BERTH_HOST_RUNTIME_PLUGIN_STATUS_H_

#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/base/text.h"

namespace berth::host {

// A code, the plugin that gave it, and why.
struct PluginStatus {
  berth_code code = BERTH_SUCCESS;
  std::string plugin;
  std::vector<std::string> reasons;

  bool ok() const { return code == BERTH_SUCCESS; }
  // Unschedulable, UnschedulableAndUnresolvable and Pending say no; nothing went wrong.
  bool rejected() const {
    return code == BERTH_UNSCHEDULABLE || code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE ||
           code == BERTH_PENDING;
  }
  // The reasons, joined with ", " as kube-scheduler's Status.Message() does.
  std::string Message() const { return Join(reasons, ", "); }
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_PLUGIN_STATUS_H_
