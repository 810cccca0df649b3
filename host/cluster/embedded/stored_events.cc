#include "host/cluster/embedded/stored_events.h"

#include <string>
#include <string_view>
#include <utility>

#include "host/cluster/embedded/api_errors.h"

namespace berth::host {
namespace {

constexpr std::string_view kEventKind = "events.k8s.io/v1/Event";

// Validates an event. kube-apiserver: pkg/apis/core/validation/events.go, for events.k8s.io/v1.
Status ValidateEvent(const Event& event) {
  constexpr size_t kMaxName = 128;
  const std::string& about = event.regarding.name;
  const auto invalid = [&about](std::string_view field, std::string_view why) {
    return InvalidError(kEventKind, about, field, why);
  };
  const std::pair<std::string_view, const std::string&> required[] = {
      {"reportingController", event.reporting_controller},
      {"reportingInstance", event.reporting_instance},
      {"reason", event.reason},
      {"action", event.action}};
  for (const auto& [field, value] : required) {
    if (value.empty()) return invalid(field, "Required value");
    if (value.size() > kMaxName) return invalid(field, "can have at most 128 characters");
  }
  if (event.type != "Normal" && event.type != "Warning") {
    return invalid("type", "Invalid value: \"" + event.type + "\"");
  }
  if (event.note.size() > kMaxEventNoteBytes)
    return invalid("note", "can have at most 1024 characters");
  return Status::Ok();
}

}  // namespace

Status StoredEvents::Add(Event event) {
  if (Status status = ValidateEvent(event); !status.ok()) return status;
  if (event.time_ns == 0) event.time_ns = clock_.NowNs();
  static_cast<void>(versions_.Next());
  events_.push_back(std::move(event));
  while (events_.size() > max_events_) events_.pop_front();
  return Status::Ok();
}

}  // namespace berth::host
