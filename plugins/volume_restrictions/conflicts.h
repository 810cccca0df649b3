// Conflicts between the volumes of two pods on one node.
#ifndef BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
#define BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_

#include <berth/pod.h>

namespace restrictions {

// Returns whether the volume is a GCE, EBS, iSCSI or RBD disk. Pods on one node can share such a
// disk only if Conflict() returns false.
bool IsRestricted(const berth_volume& volume);

// Returns whether the pod has a restricted volume.
bool HasRestricted(const berth::Pod& pod);

// Returns whether `other` uses a restricted volume of `pod` and cannot share it.
bool Conflict(const berth::Pod& pod, const berth::Pod& other);

}  // namespace restrictions

#endif  // BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
