#include "hints.h"

#include <algorithm>
#include <cstdint>

#include <berth/span.h>
#include <berth/value.h>

#include "in_tree.h"
#include "volume_index.h"

namespace limits {
namespace {

bool IsClaim(const berth_volume& volume) {
  return volume.kind == BERTH_VOLUME_CLAIM || volume.kind == BERTH_VOLUME_EPHEMERAL;
}

bool MayCountAny(const berth::Pod& pod) {
  const auto volumes = pod.volumes();
  return std::any_of(volumes.begin(), volumes.end(), MayCount);
}

// Returns whether the change may allow another volume: a driver was added or removed, or a limit
// grew or was removed.
bool Grew(const CsiNode& before, const CsiNode& after) {
  for (const CsiNode::Driver& driver : after.drivers) {
    const CsiNode::Driver* const old = before.Find(driver.name);
    if (old == nullptr) return true;
    if (old->limit && (!driver.limit || *driver.limit > *old->limit)) return true;
  }
  return std::any_of(before.drivers.begin(), before.drivers.end(),
                     [&after](const auto& driver) { return after.Find(driver.name) == nullptr; });
}

bool Uses(const berth::Pod& pod, const berth_object& claim) {
  if (claim.meta->ns != pod.ns()) return false;
  const auto volumes = pod.volumes();
  return std::any_of(volumes.begin(), volumes.end(), [&claim](const berth_volume& volume) {
    return IsClaim(volume) && berth::Str(volume.source) == berth::Str(claim.meta->name);
  });
}

// Returns whether the change lets the pod find its claim, or lets the claim, which may be that of a
// pod on a node, count as another volume or not at all.
bool ClaimHelps(const berth::Pod& pod, const berth_object* before, const berth_object* after) {
  if (after == nullptr) return true;
  if (before == nullptr) return Uses(pod, *after);
  const Claim old = ReadClaim(*before);
  const Claim now = ReadClaim(*after);
  return old.volume != now.volume || old.storage_class != now.storage_class ||
         (old.controller != now.controller && Uses(pod, *after));
}

// Returns whether the pod may have waited for `attachment` to be deleted. Every pod with a claim
// may have, because the claim that was attached is not looked up.
bool MayHaveWaitedFor(const berth::Pod& pod, const berth::Value& attachment) {
  const std::string_view driver = attachment["spec"]["attacher"].AsString();
  const auto volumes = pod.volumes();
  return std::any_of(volumes.begin(), volumes.end(), [driver](const berth_volume& volume) {
    if (IsClaim(volume)) return true;
    const InTree* const in_tree = FindByVolume(volume);
    return in_tree != nullptr && in_tree->driver == driver;
  });
}

}  // namespace

bool MayCount(const berth_volume& volume) {
  return IsClaim(volume) || FindByVolume(volume) != nullptr;
}

std::vector<berth::EventInterest> Interests() {
  // Some hints, such as that for deleted pods, do not depend on the rejected pod. They still name a
  // pod part, so that the host calls the hint only once for pods with equal parts.
  constexpr uint64_t kVolumesPart = BERTH_PART(VOLUMES);
  constexpr uint64_t kVolumesAndNamespaceParts = BERTH_PART(VOLUMES) | BERTH_PART(NAMESPACE);
  return {
      // A new node has no limits until its CSINode is added, so it may accept the pod.
      {.resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD, .always = true},
      {.resource = BERTH_RESOURCE_CSI_NODE,
       .actions = BERTH_ACTION_ADD | BERTH_ACTION_DELETE,
       .always = true},
      {.resource = BERTH_RESOURCE_CSI_NODE,
       .actions = BERTH_ACTION_UPDATE,
       .pod_parts = kVolumesPart},
      {.resource = BERTH_RESOURCE_CSI_DRIVER,
       .actions = BERTH_ACTION_UPDATE | BERTH_ACTION_DELETE,
       .pod_parts = kVolumesPart},
      {.resource = BERTH_RESOURCE_POD_ANY,
       .actions = BERTH_ACTION_DELETE,
       .pod_parts = kVolumesPart},
      {.resource = BERTH_RESOURCE_PVC,
       .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE | BERTH_ACTION_DELETE,
       .pod_parts = kVolumesAndNamespaceParts},
      {.resource = BERTH_RESOURCE_PV,
       .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE | BERTH_ACTION_DELETE,
       .pod_parts = kVolumesPart},
      // A class that is added can only let more volumes count.
      {.resource = BERTH_RESOURCE_STORAGE_CLASS,
       .actions = BERTH_ACTION_UPDATE | BERTH_ACTION_DELETE,
       .pod_parts = kVolumesPart},
      {.resource = BERTH_RESOURCE_VOLUME_ATTACHMENT,
       .actions = BERTH_ACTION_DELETE,
       .pod_parts = kVolumesPart},
  };
}

bool Helps(const berth::Pod& pod, const berth::Event& event, berth::KubeVersion version) {
  const berth::Value before = berth::ValueOf(berth::ObjectIn(event.before));
  const berth::Value after = berth::ValueOf(berth::ObjectIn(event.after));
  switch (event.resource) {
    case BERTH_RESOURCE_CSI_NODE: return Grew(ReadCsiNode(before), ReadCsiNode(after));
    case BERTH_RESOURCE_CSI_DRIVER:
      return PreventsSchedulingIfMissing(before, version) &&
             !PreventsSchedulingIfMissing(after, version);
    case BERTH_RESOURCE_PVC:
      return ClaimHelps(pod, berth::ObjectIn(event.before), berth::ObjectIn(event.after));
    case BERTH_RESOURCE_PV:
      return before.absent() || after.absent() || !(ReadVolume(before) == ReadVolume(after));
    case BERTH_RESOURCE_STORAGE_CLASS:
      return before["provisioner"].AsString() != after["provisioner"].AsString();
    case BERTH_RESOURCE_VOLUME_ATTACHMENT: return MayHaveWaitedFor(pod, before);
    default: break;
  }
  const berth_pod* const deleted = berth::PodIn(event.before);
  if (deleted == nullptr) return true;
  const bool was_on_a_node =
      deleted->node_name != BERTH_ID_NONE || deleted->nominated_node != BERTH_ID_NONE;
  return was_on_a_node && MayCountAny(*deleted);
}

}  // namespace limits
