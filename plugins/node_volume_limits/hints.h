// Which events may make room for the volumes of a pod.
#ifndef BERTH_PLUGINS_NODE_VOLUME_LIMITS_HINTS_H_
#define BERTH_PLUGINS_NODE_VOLUME_LIMITS_HINTS_H_

#include <vector>

#include <berth/enqueue_extensions.h>
#include <berth/pod.h>

namespace limits {

// Whether it is a claim, or attached through a driver.
bool MayCount(const berth_volume& volume);

std::vector<berth::EventInterest> Interests();

// Whether the event, one of Interests, may help the pod.
bool Helps(const berth::Pod& pod, const berth::Event& event);

}  // namespace limits

#endif  // BERTH_PLUGINS_NODE_VOLUME_LIMITS_HINTS_H_
