// The events of pods, as `kubectl describe pod` shows them.
#ifndef BERTH_HOST_CYCLE_POD_EVENTS_H_
#define BERTH_HOST_CYCLE_POD_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/api/objects.h"
#include "host/cluster/client.h"

namespace berth::host {

// Returns the event "Scheduled" of type Normal: the pod is bound. `time_ns`: since
// 1970-01-01T00:00:00Z. This applies to the next function too.
Event ScheduledEvent(const Pod& pod, std::string_view node, int64_t time_ns);
// Returns the event "FailedScheduling" of type Warning: a scheduling cycle or a binding cycle
// failed, or the pod was skipped.
Event FailedSchedulingEvent(const Pod& pod, std::string_view note, int64_t time_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_POD_EVENTS_H_
