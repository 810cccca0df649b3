// Queueing hints of NodeVolumeLimits: which events may make room for the volumes of a pod.
#ifndef BERTH_PLUGINS_NODE_VOLUME_LIMITS_HINTS_H_
#define BERTH_PLUGINS_NODE_VOLUME_LIMITS_HINTS_H_

#include <vector>

#include <berth/enqueue_extensions.h>
#include <berth/kube_version.h>
#include <berth/pod.h>

namespace limits {

// Returns whether the volume may count against a limit: it uses a claim, or it is an in-tree volume
// that a CSI driver replaces.
bool MayCount(const berth_volume& volume);

// Returns the events that the plugin registers for.
std::vector<berth::EventInterest> Interests();

// Returns whether `event` may make room for the volumes of `pod`.
// REQUIRES: `event` is one of Interests().
bool Helps(const berth::Pod& pod, const berth::Event& event, berth::KubeVersion version);

}  // namespace limits

#endif  // BERTH_PLUGINS_NODE_VOLUME_LIMITS_HINTS_H_
