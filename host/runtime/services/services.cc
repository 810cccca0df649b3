#include "host/runtime/services/services.h"

#include <algorithm>
#include <array>

#include "host/base/assert.h"

namespace berth::host {

HostServices::HostServices(Interner& the_interner, ObjectStore& the_objects)
    : InstanceContext{.interner = the_interner, .services = Services()}, objects(the_objects) {}

std::span<const ServiceInfo> Services() {
  static const auto services = [] {
    std::array<ServiceInfo, 17> all;
    auto to = all.begin();
    for (const auto part : {DataServices(), TelemetryServices(), CallbackServices(),
                            SchedulerServices(), ApiServices()}) {
      to = std::ranges::copy(part, to).out;
    }
    BERTH_ASSERT(to == all.end());
    return all;
  }();
  return services;
}

}  // namespace berth::host
