// Which changes of the cluster may give a pod the room that it lacked.
#ifndef BERTH_PLUGINS_NODE_RESOURCES_FIT_HINTS_H_
#define BERTH_PLUGINS_NODE_RESOURCES_FIT_HINTS_H_

#include <cstdint>

#include <berth/plugin.h>

#include "args.h"

namespace fit {

// The amount of a resource beside cpu, memory and ephemeral storage; 0 where there is none.
int64_t AmountOf(const berth_resources& resources, berth_id name);

// May `event` make room for `pod`? A pod that went, or shrank in what `pod` requests; a node that
// would hold `pod` if it were empty, and is new or grew in what `pod` requests.
// kube-scheduler: noderesources/fit.go, isSchedulableAfterPodEvent, isSchedulableAfterNodeChange.
bool Helps(berth::Pod pod, const berth_event& event, const Ignored& ignored,
           const berth::Host& host);

}  // namespace fit

#endif  // BERTH_PLUGINS_NODE_RESOURCES_FIT_HINTS_H_
