// The state of the service berth.selectors/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICE_SELECTORS_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICE_SELECTORS_H_

#include <berth/abi.h>

#include "host/runtime/services/plugin_owned.h"

namespace berth::host {

struct PluginSelectors {
  PluginOwned<berth_selector> labels;
  PluginOwned<berth_node_selector> nodes;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICE_SELECTORS_H_
