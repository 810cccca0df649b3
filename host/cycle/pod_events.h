// The events that people see with `kubectl describe pod`.
#ifndef BERTH_HOST_CYCLE_POD_EVENTS_H_
#define BERTH_HOST_CYCLE_POD_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/api/objects.h"
#include "host/cluster/client.h"

namespace berth::host {

// What a note may be long at most: events.k8s.io cuts no text, it refuses the event.
inline constexpr size_t kMaxEventNoteBytes = 1024;

// `note`, cut to kMaxEventNoteBytes with " ..." at its end; never within a character.
// (kube-scheduler: pkg/scheduler/schedule_one.go, truncateMessage)
std::string CutNote(std::string_view note);

// Normal, Scheduled: the pod is bound. `time_ns` since 1970-01-01T00:00:00Z.
Event ScheduledEvent(const Pod& pod, std::string_view node, int64_t time_ns);
// Warning, FailedScheduling: an attempt or a binding failed, or was not made.
Event FailedSchedulingEvent(const Pod& pod, std::string_view note, int64_t time_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_POD_EVENTS_H_
