// Derives the events for waiting pods from a change of a pod or a node. Pure functions.
//
// kube-scheduler: pkg/scheduler/framework/events.go
#ifndef BERTH_HOST_QUEUE_OBJECT_CHANGE_H_
#define BERTH_HOST_QUEUE_OBJECT_CHANGE_H_

#include <cstdint>

#include "host/api/objects.h"

namespace berth::host {

// Returns the BERTH_ACTION_UPDATE_NODE_* bits of the change from `old` to `now`; every bit is one
// event. Returns 0 for a change that is no event, such as a heartbeat or a new image.
//   ALLOCATABLE       any amount differs, was added or was removed
//   LABEL             any label differs
//   TAINT             the list of taints differs, or the node became schedulable
//   CONDITION         the status of any condition differs, or one was added or removed
//   ANNOTATION        any annotation differs
//   DECLARED_FEATURE  the set of declared features differs
uint32_t NodeChange(const Node& old, const Node& now);

// Returns the BERTH_ACTION_UPDATE_POD_* bits of the change from `old` to `now`; every bit is one
// event. Returns BERTH_ACTION_UPDATE (all bits) for a change that is none of these, which is one
// event.
//   LABEL                        any label differs
//   SCALE_DOWN                   any amount that the pod accounts for, including a resize in
//                                progress, became smaller or was removed
//   TOLERATION                   the number of tolerations differs (the API allows no other change)
//   SCHEDULING_GATES_ELIMINATED  the last scheduling gate was removed
//   GENERATED_RESOURCE_CLAIM     the status names other claims
uint32_t PodChange(const Pod& old, const Pod& now);

// Returns whether only conditions, phase, nomination and resourceVersion differ. These are the
// fields that a scheduler itself writes; their change makes no pod schedulable.
bool OnlyStatusChanged(const Pod& old, const Pod& now);

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_OBJECT_CHANGE_H_
