// The text about a pod for which a plugin missed its deadline.
#ifndef BERTH_HOST_CYCLE_SLOW_POD_H_
#define BERTH_HOST_CYCLE_SLOW_POD_H_

#include <string>

#include <berth/abi.h>

#include "host/guard/call_monitor.h"

namespace berth::host {

// Returns a sentence without a final stop which names the plugin, the point and the deadline. If
// the pod has a list of more than 100 entries, it also names the longest one, which is the probable
// reason; lists within a list, such as the values of a selector, are not counted. Example:
//   plugin "InterPodAffinity" took longer than 1s at Filter for this pod, whose list
//   /spec/tolerations has 500 entries
std::string SlowPodMessage(const LateCall& late, const berth_pod& pod);

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SLOW_POD_H_
