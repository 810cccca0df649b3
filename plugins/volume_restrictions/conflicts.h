// Which volumes two pods cannot both have on one node.
#ifndef BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
#define BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_

#include <berth/pod.h>

namespace restrictions {

// A disk that is attached to one node, or mounted by one pod that writes.
bool IsRestricted(const berth_volume& volume);

bool HasRestricted(const berth::Pod& pod);

// Whether a restricted volume of `pod` is one that `other` uses and cannot share.
bool Conflict(const berth::Pod& pod, const berth::Pod& other);

}  // namespace restrictions

#endif  // BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
