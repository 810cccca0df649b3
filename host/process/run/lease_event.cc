#include "host/process/run/lease_event.h"

#include <string>

namespace berth::host {
namespace {

Event LeaseEvent(const ElectionOptions& election, std::string_view scheduler, int64_t time_ns) {
  Event event;
  event.regarding.api_version = "coordination.k8s.io/v1";
  event.regarding.kind = "Lease";
  event.regarding.ns = election.ns;
  event.regarding.name = election.name;
  event.reporting_controller = scheduler;
  event.time_ns = time_ns;
  return event;
}

}  // namespace

Event LeadingEvent(const ElectionOptions& election, std::string_view scheduler, int64_t time_ns) {
  Event event = LeaseEvent(election, scheduler, time_ns);
  event.type = "Normal";
  event.reason = "LeaderElection";
  event.action = "LeaderElection";
  event.note = TruncateNote(election.identity + " became leader");
  return event;
}

Event QuarantineEvent(const ElectionOptions& election, const PluginFaults::Quarantined& plugin,
                      int64_t time_ns) {
  Event event = LeaseEvent(election, plugin.profile, time_ns);
  event.type = "Warning";
  event.reason = "PluginQuarantined";
  event.action = "Scheduling";
  event.note = TruncateNote(plugin.ToString());
  event.is_unique = true;  // A series would keep the note of its first event, about another plugin.
  return event;
}

}  // namespace berth::host
