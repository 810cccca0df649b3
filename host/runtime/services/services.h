// The services of <berth/abi.h>, in one table. service_<name>.cc implements the functions of a
// service, and its state if it keeps one for each plugin instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <berth/abi.h>

#include "host/plan/instance_host.h"
#include "host/plan/service.h"
#include "host/runtime/services/host_services.h"

namespace berth::host {

// The services that have a state, in the order of the table: indices for InstanceHost::state().
enum class ServiceIndex : uint8_t {
  kLog,
  kStrings,
  kRefs,
  kValues,
  kSelectors,
  kMetrics,
  kObjects,
  kWhatIf,
  kTimer,
  kApi,
};

// Returns every service.
std::span<const ServiceInfo> Services();

// The entries of the table.
ServiceInfo LogService();
ServiceInfo StringsService();
ServiceInfo RefsService();
ServiceInfo ColumnsService();
// The service with `parse` and `release`, unlike ValuesService() of host/api/value.h.
ServiceInfo InstanceValuesService();
ServiceInfo SelectorsService();
ServiceInfo MetricsService();
ServiceInfo ObjectsService();
ServiceInfo NodesService();
ServiceInfo WhatIfService();
ServiceInfo NominatorService();
ServiceInfo ActivateService();
ServiceInfo WaitingService();
ServiceInfo TimerService();
ServiceInfo RandomService();
ServiceInfo ApiService();
ServiceInfo CompletionService();

// Returns the objects that the services of an instance use. REQUIRES: the host is not retired.
inline HostServices& ServicesOf(const InstanceHost& host) {
  return static_cast<HostServices&>(host.context());
}

// Returns the state of a service, State::kService. CreateState<State> creates it.
// REQUIRES: see InstanceHost::state().
template <class State>
State& StateOf(const InstanceHost& host) {
  return static_cast<State&>(host.state(static_cast<size_t>(State::kService)));
}
template <class State>
std::shared_ptr<ServiceState> CreateState(InstanceHost& host) {
  return std::make_shared<State>(host);
}

// Returns whether the services that ask the scheduler are served.
inline bool HasScheduler(const InstanceHost& host) { return ServicesOf(host).scheduler != nullptr; }

// Returns whether `cycle`, which a plugin passes to a service, is the one that was passed to the
// call in progress. `cycle` may be any pointer.
inline bool IsCurrent(const InstanceHost& host, const berth_cycle* cycle) {
  return cycle != nullptr && cycle == host.cycle();
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_
