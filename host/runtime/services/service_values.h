// The state of the service berth.values/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICE_VALUES_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICE_VALUES_H_

#include <berth/abi.h>

#include "host/runtime/services/plugin_owned.h"

namespace berth::host {

using PluginValues = PluginOwned<berth_value>;

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICE_VALUES_H_
