// The resources of events (BERTH_RESOURCE_*) and their kinds.
#ifndef BERTH_HOST_API_EVENT_RESOURCE_H_
#define BERTH_HOST_API_EVENT_RESOURCE_H_

#include <cstdint>
#include <string_view>

namespace berth::host {

// Returns the resource of a kind other than v1/Pod, such as BERTH_RESOURCE_PVC for
// "v1/PersistentVolumeClaim"; BERTH_RESOURCE_CUSTOM if the kind has none of its own. Ignores the
// version, so that a kind with several versions is possible too: an interest names a resource,
// whichever version of it is watched.
uint32_t EventResourceOf(std::string_view kind);

// Returns the kind of a resource without its version, "storage.k8s.io/CSINode"; empty for pods, and
// for resources without a kind.
std::string_view KindOfResource(uint32_t resource);

}  // namespace berth::host

#endif  // BERTH_HOST_API_EVENT_RESOURCE_H_
