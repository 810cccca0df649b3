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

// A driver came, or a limit grew or fell away.
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

// Of which claim an attachment was is not looked up.
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
  // What is said of drivers and of pods that go hangs on no pod; a part must be named all the same,
  // for the host to ask once for pods that are alike.
  constexpr uint64_t kVolumesAlone = BERTH_PART(VOLUMES);
  constexpr uint64_t kClaimsToo = BERTH_PART(VOLUMES) | BERTH_PART(NAMESPACE);
  return {
      // Where there is no CSINode, there is no limit.
      {.resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD, .always = true},
      {.resource = BERTH_RESOURCE_CSI_NODE,
       .actions = BERTH_ACTION_ADD | BERTH_ACTION_DELETE,
       .always = true},
      {.resource = BERTH_RESOURCE_CSI_NODE,
       .actions = BERTH_ACTION_UPDATE,
       .pod_parts = kVolumesAlone},
      {.resource = BERTH_RESOURCE_CSI_DRIVER,
       .actions = BERTH_ACTION_UPDATE | BERTH_ACTION_DELETE,
       .pod_parts = kVolumesAlone},
      {.resource = BERTH_RESOURCE_POD_ANY,
       .actions = BERTH_ACTION_DELETE,
       .pod_parts = kVolumesAlone},
      {.resource = BERTH_RESOURCE_PVC, .actions = BERTH_ACTION_ADD, .pod_parts = kClaimsToo},
      {.resource = BERTH_RESOURCE_VOLUME_ATTACHMENT,
       .actions = BERTH_ACTION_DELETE,
       .pod_parts = kVolumesAlone},
  };
}

bool Helps(const berth::Pod& pod, const berth::Event& event) {
  const berth::Value before = berth::ValueOf(berth::ObjectIn(event.before));
  const berth::Value after = berth::ValueOf(berth::ObjectIn(event.after));
  switch (event.resource) {
    case BERTH_RESOURCE_CSI_NODE: return Grew(ReadCsiNode(before), ReadCsiNode(after));
    case BERTH_RESOURCE_CSI_DRIVER: return KeepsPodsAway(before) && !KeepsPodsAway(after);
    case BERTH_RESOURCE_PVC: return after.absent() || Uses(pod, *berth::ObjectIn(event.after));
    case BERTH_RESOURCE_VOLUME_ATTACHMENT: return MayHaveWaitedFor(pod, before);
    default: break;
  }
  const berth_pod* const gone = berth::PodIn(event.before);
  if (gone == nullptr) return true;
  const bool held_room = gone->node_name != BERTH_ID_NONE || gone->nominated_node != BERTH_ID_NONE;
  return held_room && MayCountAny(*gone);
}

}  // namespace limits
