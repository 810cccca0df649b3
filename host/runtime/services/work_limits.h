// Limits of the work that one plugin instance may have waiting for the host.
#ifndef BERTH_HOST_RUNTIME_SERVICES_WORK_LIMITS_H_
#define BERTH_HOST_RUNTIME_SERVICES_WORK_LIMITS_H_

#include <cstddef>

namespace berth::host {

// How many posts, open requests, waiting events and timers of one instance there may be, of each. A
// plugin that adds them faster than the scheduling thread handles them would otherwise fill the
// memory. <berth/abi.h> states the number.
inline constexpr size_t kMaxWaitingWork = 65'536;

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_WORK_LIMITS_H_
