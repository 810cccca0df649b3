// Which events a change of a pod or a node is to pods that wait. Pure functions.
//
// kube-scheduler: pkg/scheduler/framework/events.go
#ifndef BERTH_HOST_QUEUE_OBJECT_CHANGE_H_
#define BERTH_HOST_QUEUE_OBJECT_CHANGE_H_

#include <cstdint>

#include "host/api/objects.h"

namespace berth::host {

// Which BERTH_ACTION_UPDATE_NODE_* the change from `old` to `now` is: one event for each bit. 0: no
// event at all, as for heartbeats and new images.
//   ALLOCATABLE       any amount differs, appeared or vanished
//   LABEL             any label differs
//   TAINT             the list of taints differs, or the node became schedulable
//   CONDITION         the status of any condition differs, one appeared or vanished
//   ANNOTATION        any annotation differs
//   DECLARED_FEATURE  the set differs
uint32_t NodeChange(const Node& old, const Node& now);

// Which BERTH_ACTION_UPDATE_POD_* the change from `old` to `now` is: one event for each bit.
// BERTH_ACTION_UPDATE, all bits: none in particular, and that is one event.
//   LABEL                        any label differs
//   SCALE_DOWN                   any amount that it holds, a resize in progress counted in, became
//                                smaller or vanished
//   TOLERATION                   there are more or fewer (the API allows no other change)
//   SCHEDULING_GATES_ELIMINATED  the last gate is gone
//   GENERATED_RESOURCE_CLAIM     the status names other claims
uint32_t PodChange(const Pod& old, const Pod& now);

// Whether nothing but conditions, phase, nomination and version differ: what a scheduler writes
// itself, and what makes no pod schedulable.
bool ChangedInStatusAlone(const Pod& old, const Pod& now);

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_OBJECT_CHANGE_H_
