// An event as the scheduling queue processes it.
#ifndef BERTH_HOST_QUEUE_QUEUE_EVENT_H_
#define BERTH_HOST_QUEUE_QUEUE_EVENT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/api/event_resource.h"
#include "host/api/objects.h"

namespace berth::host {

// One event names one resource and one action. One change of an object may be several events (see
// host/event/cluster_event.h).
struct QueueEvent {
  // BERTH_RESOURCE_*. A pod is ASSIGNED_POD if it has a node and UNSCHEDULED_POD if it has none.
  // WILDCARD is not a change but a request to try pods again (a flush, or Activate).
  uint32_t resource = BERTH_RESOURCE_WILDCARD;
  // One BERTH_ACTION_* bit, or BERTH_ACTION_UPDATE for an update that is none of the specific ones.
  uint32_t action = BERTH_ACTION_ALL;
  // The object before and after the change; a null reference where there is none.
  AnyObject before = PodRef();
  AnyObject after = PodRef();
};

// Returns the kind of the event's object if it is neither a pod nor a node; otherwise empty.
std::string_view KindOf(const QueueEvent& event);

// Returns the pod that a WILDCARD event is limited to, which is the one in `after`; null for every
// other event.
const Pod* OnlyPodOf(const QueueEvent& event);

// Returns the event that the removal of the pod's nomination to `node` is for other pods, whose
// attempts counted with the pod: the ASSIGNED_POD Delete event of the pod, with this nomination in
// its status even if the status never had it.
QueueEvent NominationRemovedEvent(const PodRef& pod, std::string_view node);

// Returns the event's name in logs and metrics, such as "AssignedPodDelete" or
// "NodeUpdateNodeTaint".
// (kube-scheduler: pkg/scheduler/framework/events.go, ClusterEvent.Label)
std::string EventLabel(const QueueEvent& event);

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_EVENT_H_
