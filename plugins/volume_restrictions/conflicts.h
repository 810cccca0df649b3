// Conflicts between the volumes of two pods on one node.
#ifndef BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
#define BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_

#include <berth/pod.h>

namespace restrictions {

// Returns whether pods on one node may only share the volume under conditions: GCE, EBS, iSCSI and
// RBD disks.
bool IsRestricted(const berth_volume& volume);

// Returns whether the pod has a restricted volume.
bool HasRestricted(const berth::Pod& pod);

// Returns whether `other` uses a restricted volume of `pod` and cannot share it.
bool Conflict(const berth::Pod& pod, const berth::Pod& other);

}  // namespace restrictions

#endif  // BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
