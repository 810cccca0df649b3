// The services of <berth/abi.h>, one file each: service_<name>.cc.
#ifndef BERTH_HOST_RUNTIME_SERVICES_H_
#define BERTH_HOST_RUNTIME_SERVICES_H_

#include <span>
#include <string_view>

#include <berth/abi.h>

#include "host/runtime/host_services.h"

namespace berth::host {

struct ServiceInfo {
  std::string_view id;
  const void* service;
  // Whether the host has what the service works on; otherwise it is UNSUPPORTED. Null: always.
  bool (*is_served)(const HostServices& services);
};

// Every service of <berth/abi.h>, by id. That of berth.log/1 differs from instance to instance: the
// one here is not it.
std::span<const ServiceInfo> Services();

// Lifetime: the process'.
const berth_strings* StringsService();
const berth_columns* ColumnsService();
const berth_metrics* MetricsService();
const berth_objects* ObjectsService();
const berth_whatif* WhatIfService();
const berth_nominator* NominatorService();
const berth_activate* ActivateService();
const berth_waiting* WaitingService();
const berth_timer* TimerService();
const berth_api* ApiService();
const berth_completion* CompletionService();

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_H_
