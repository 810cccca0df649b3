// The events that may help a pod that PodTopologySpread rejected.
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_HINTS_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_HINTS_H_

#include <vector>

#include <berth/enqueue_extensions.h>
#include <berth/host.h>
#include <berth/pod.h>

#include "constraints.h"

namespace spread {

// `has_hard_defaults`: default constraints may reject a pod, so that the objects from which their
// selectors are deduced matter.
std::vector<berth::EventInterest> Interests(bool has_hard_defaults);

// Returns whether a change of a Service or controller may help the pod: it changes the selector of
// the pod's default constraints. kube-scheduler has no event for these objects.
// REQUIRES: the event has an object that is neither a pod nor a node.
bool ObjectHelps(const berth::Pod& pod, const berth::Event& event, const berth::Host& host);

// Returns false if the event helps no pod, whatever its constraints are. Most updates of pods
// change only their status.
bool MayHelp(const berth::Event& event);

// Returns whether the event may help the pod. `hard`: the pod's constraints with DoNotSchedule.
bool Helps(const berth::Pod& pod, const Constraints& hard, const berth::Event& event,
           const berth::Host& host);

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_HINTS_H_
