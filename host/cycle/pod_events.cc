#include "host/cycle/pod_events.h"

namespace berth::host {
namespace {

Event EventFor(const Pod& pod, int64_t time_ns) {
  Event event;
  event.regarding = {.api_version = "v1",
                     .kind = "Pod",
                     .ns = std::string(pod.ns()),
                     .name = std::string(pod.name()),
                     .uid = std::string(pod.uid()),
                     .resource_version = std::string(pod.resource_version())};
  event.reporting_controller = pod.scheduler_name();
  event.reporting_instance = pod.scheduler_name();
  event.time_ns = time_ns;
  return event;
}

}  // namespace

Event ScheduledEvent(const Pod& pod, std::string_view node, int64_t time_ns) {
  Event event = EventFor(pod, time_ns);
  event.type = "Normal";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.is_unique = true;  // A pod is bound once.
  event.note = TruncateNote("Successfully assigned " + pod.Key() + " to " + std::string(node));
  return event;
}

Event FailedSchedulingEvent(const Pod& pod, std::string_view note, int64_t time_ns) {
  Event event = EventFor(pod, time_ns);
  event.type = "Warning";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = TruncateNote(note);
  return event;
}

}  // namespace berth::host
