// The service berth.refs/1.
#include "host/runtime/instance_host.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

berth_code RetainTagged(const berth_host* host, berth_tagged object) noexcept {
  const HostUse instance(host);
  if (!instance) return BERTH_CANCELLED;
  return instance->refs().Retain(object) ? BERTH_SUCCESS : BERTH_BAD_ARGUMENT;
}

void ReleaseTagged(const berth_host* host, berth_tagged object) noexcept {
  const HostUse instance(host);
  if (!instance || instance->refs().Release(object)) return;
  instance->NoteFaultAtCurrentPoint("released an object that it does not retain");
}

constexpr berth_refs kRefs{sizeof(berth_refs), 0, RetainTagged, ReleaseTagged};

}  // namespace

const berth_refs* RefsService() { return &kRefs; }

}  // namespace berth::host
