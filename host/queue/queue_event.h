// What happened in the cluster, as pods that wait see it.
#ifndef BERTH_HOST_QUEUE_QUEUE_EVENT_H_
#define BERTH_HOST_QUEUE_QUEUE_EVENT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/api/objects.h"

namespace berth::host {

// One event: one resource, one action. A change of an object may be several of them (see
// host/event/cluster_event.h).
struct QueueEvent {
  // BERTH_RESOURCE_*; of a pod ASSIGNED_POD, or UNSCHEDULED_POD for one without a node. WILDCARD:
  // not a change of anything, but an order to try again (a flush, Activate).
  uint32_t resource = BERTH_RESOURCE_WILDCARD;
  // One BERTH_ACTION_* bit; BERTH_ACTION_UPDATE: an update that is none in particular.
  uint32_t action = BERTH_ACTION_ALL;
  // As it was and as it is; a null reference for what there is not.
  AnyObject before = PodRef();
  AnyObject after = PodRef();
};

// The resource that a kind ("v1/PersistentVolume") is in events; CUSTOM for one that has none of
// its own. Not for pods: what a pod is depends on whether it has a node.
uint32_t EventResourceOf(std::string_view kind);

// The kind of the object of a CUSTOM event; empty without one.
std::string_view KindOf(const QueueEvent& event);

// A WILDCARD event that carries a pod in `after` is for that pod alone: null for all others.
const Pod* OnlyFor(const QueueEvent& event);

// "AssignedPodDelete", "NodeUpdateNodeTaint": in logs and metrics.
// (kube-scheduler: pkg/scheduler/framework/events.go, ClusterEvent.Label)
std::string EventLabel(const QueueEvent& event);

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_EVENT_H_
