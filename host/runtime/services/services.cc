#include "host/runtime/services/services.h"

#include <vector>

namespace berth::host {

HostServices::HostServices(Interner& the_interner, ObjectStore& the_objects)
    : InstanceContext{.interner = the_interner, .services = Services()},
      objects(the_objects),
      shared(NewSharedObjects()) {}

std::span<const ServiceInfo> Services() {
  static const auto services = [] {
    std::vector<ServiceInfo> all;
    for (const auto part : {DataServices(), TelemetryServices(), CallbackServices(),
                            SchedulerServices(), ApiServices(), SharedServices(), HttpServices()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return services;
}

bool HasScheduler(const InstanceHost& host) { return ServicesOf(host).scheduler != nullptr; }

bool IsCurrent(const InstanceHost& host, const berth_cycle* cycle) {
  return cycle != nullptr && cycle == host.cycle();
}

}  // namespace berth::host
