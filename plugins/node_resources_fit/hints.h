// Queueing hints of NodeResourcesFit: which cluster events may make a rejected pod fit.
#ifndef BERTH_PLUGINS_NODE_RESOURCES_FIT_HINTS_H_
#define BERTH_PLUGINS_NODE_RESOURCES_FIT_HINTS_H_

#include <berth/plugin.h>

#include "args.h"

namespace fit {

// Returns whether `event` may make room for `pod`. These events do:
// - a pod that was on a node or nominated to one is deleted;
// - a pod on a node shrinks in a resource that `pod` requests, or `pod` itself changes;
// - a node that could hold `pod` if it were empty is added, takes more pods, or grows in a resource
//   that `pod` requests.
// kube-scheduler: noderesources/fit.go, isSchedulableAfterPodEvent, isSchedulableAfterNodeChange.
bool Helps(berth::Pod pod, const berth_event& event, const Ignored& ignored,
           const berth::Host& host);

}  // namespace fit

#endif  // BERTH_PLUGINS_NODE_RESOURCES_FIT_HINTS_H_
