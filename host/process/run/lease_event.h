// Events about the scheduler itself, for `kubectl describe lease` and `kubectl get events`.
#ifndef BERTH_HOST_PROCESS_RUN_LEASE_EVENT_H_
#define BERTH_HOST_PROCESS_RUN_LEASE_EVENT_H_

#include <cstdint>
#include <string_view>

#include "host/cluster/client.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/guard/plugin_faults.h"

namespace berth::host {

// Both events regard the lease of the election, because a scheduler has no object of its own. The
// lease need not exist.

// Returns the event that this process begins to lead, in the name of the profile `scheduler`.
// (client-go: tools/leaderelection/resourcelock/leaselock.go, RecordEvent)
Event LeadingEvent(const ElectionOptions& election, std::string_view scheduler, int64_t time_ns);

// Returns the event that the quarantine of a plugin begins, in the name of its profile.
Event QuarantineEvent(const ElectionOptions& election, const PluginFaults::Quarantined& plugin,
                      int64_t time_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_LEASE_EVENT_H_
