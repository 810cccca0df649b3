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

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

std::string CutNote(std::string_view note) {
  constexpr std::string_view kSuffix = " ...";
  if (note.size() <= kMaxEventNoteBytes) return std::string(note);
  size_t end = kMaxEventNoteBytes - kSuffix.size();
  while (end > 0 && IsContinuation(note[end])) --end;
  return std::string(note.substr(0, end)).append(kSuffix);
}

Event ScheduledEvent(const Pod& pod, std::string_view node, int64_t time_ns) {
  Event event = EventFor(pod, time_ns);
  event.type = "Normal";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.note = CutNote("Successfully assigned " + pod.Key() + " to " + std::string(node));
  return event;
}

Event FailedSchedulingEvent(const Pod& pod, std::string_view note, int64_t time_ns) {
  Event event = EventFor(pod, time_ns);
  event.type = "Warning";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = CutNote(note);
  return event;
}

}  // namespace berth::host
