// The host services of <berth/abi.h>. Each is implemented in service_<name>.cc.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_

#include <span>
#include <string_view>

#include <berth/abi.h>

#include "host/runtime/services/host_services.h"

namespace berth::host {

struct ServiceInfo {
  std::string_view id;
  const void* service;
  // Returns whether the host has what the service needs; otherwise the service is UNSUPPORTED. Null
  // if the service is always served.
  bool (*is_served)(const HostServices& services);
};

// Returns every service of <berth/abi.h>. The entry of berth.log/1 has no functions: every instance
// has its own berth_log.
std::span<const ServiceInfo> Services();

// Lifetime: that of the process.
const berth_strings* StringsService();
const berth_refs* RefsService();
const berth_columns* ColumnsService();
// The service with `parse` and `release`, unlike ValuesService().
const berth_values* InstanceValuesService();
const berth_selectors* SelectorsService();
const berth_metrics* MetricsService();
const berth_objects* ObjectsService();
const berth_node_lookup* NodesService();
const berth_whatif* WhatIfService();
const berth_nominator* NominatorService();
const berth_activate* ActivateService();
const berth_waiting* WaitingService();
const berth_timer* TimerService();
const berth_random* RandomService();
const berth_api* ApiService();
const berth_completion* CompletionService();

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_
