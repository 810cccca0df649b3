#include "conflicts.h"

#include <algorithm>

#include <berth/span.h>

namespace restrictions {
namespace {

bool SameText(berth_str a, berth_str b) { return berth::Str(a) == berth::Str(b); }

bool Overlap(const berth_array& a, const berth_array& b) {
  const berth::Span<const berth_str> others(b);
  for (const berth_str host : berth::Span<const berth_str>(a)) {
    const auto same = [host](berth_str other) { return SameText(host, other); };
    if (std::any_of(others.begin(), others.end(), same)) return true;
  }
  return false;
}

bool IsSame(const berth_volume& a, const berth_volume& b) {
  if (a.kind != b.kind || !SameText(a.source, b.source)) return false;
  return a.kind != BERTH_VOLUME_RBD || (SameText(a.pool, b.pool) && Overlap(a.hosts, b.hosts));
}

// Returns whether both pods may use the disk: both only read, and it is not an EBS disk.
bool MayShare(const berth_volume& a, const berth_volume& b) {
  return a.kind != BERTH_VOLUME_AWS_DISK && (a.flags & b.flags & BERTH_VOLUME_FLAG_READ_ONLY) != 0;
}

}  // namespace

bool IsRestricted(const berth_volume& volume) {
  return volume.kind == BERTH_VOLUME_GCE_DISK || volume.kind == BERTH_VOLUME_AWS_DISK ||
         volume.kind == BERTH_VOLUME_ISCSI || volume.kind == BERTH_VOLUME_RBD;
}

bool HasRestricted(const berth::Pod& pod) {
  const auto volumes = pod.volumes();
  return std::any_of(volumes.begin(), volumes.end(), IsRestricted);
}

bool Conflict(const berth::Pod& pod, const berth::Pod& other) {
  for (const berth_volume& volume : pod.volumes()) {
    if (!IsRestricted(volume)) continue;
    for (const berth_volume& existing : other.volumes()) {
      if (IsSame(volume, existing) && !MayShare(volume, existing)) return true;
    }
  }
  return false;
}

}  // namespace restrictions
