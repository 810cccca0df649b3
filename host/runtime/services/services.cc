#include "host/runtime/services/services.h"

#include <array>

namespace berth::host {

HostServices::HostServices(Interner& the_interner, ObjectStore& the_objects)
    : InstanceContext{.interner = the_interner, .services = Services()}, objects(the_objects) {}

std::span<const ServiceInfo> Services() {
  // The services that have a state are in the order of ServiceIndex.
  static const std::array services{LogService(),     StringsService(),        RefsService(),
                                   ColumnsService(), InstanceValuesService(), SelectorsService(),
                                   MetricsService(), ObjectsService(),        NodesService(),
                                   WhatIfService(),  NominatorService(),      ActivateService(),
                                   WaitingService(), TimerService(),          RandomService(),
                                   ApiService(),     CompletionService()};
  return services;
}

}  // namespace berth::host
