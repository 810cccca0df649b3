// Events as the scheduling queue processes them: how changes of objects become events, and which
// plugins are interested in them.
#ifndef BERTH_HOST_QUEUE_QUEUE_EVENT_H_
#define BERTH_HOST_QUEUE_QUEUE_EVENT_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <berth/abi.h>
#include <berth/kube_version.h>

#include "host/api/event_resource.h"
#include "host/api/objects.h"
#include "host/base/string_map.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// One event names one resource and one action. One change of an object may be several events (see
// host/event/event_router.h).
struct QueueEvent {
  // BERTH_RESOURCE_*. A pod is ASSIGNED_POD if it has a node, or if the event concerns its
  // nomination; otherwise it is UNSCHEDULED_POD.
  // WILDCARD is not a change but a request to try pods again (a flush, or Activate).
  uint32_t resource = BERTH_RESOURCE_WILDCARD;
  // One BERTH_ACTION_* bit, or BERTH_ACTION_UPDATE for an update that is none of the specific ones.
  uint32_t action = BERTH_ACTION_ALL;
  // The object before and after the change; a null reference where there is none.
  AnyObject before = PodRef();
  AnyObject after = PodRef();
};

// Returns the kind of the event's object if it is neither a pod nor a node; otherwise empty.
std::string_view KindOf(const QueueEvent& event);

// Returns the pod that a WILDCARD event is limited to, which is the one in `after`; null for every
// other event.
const Pod* OnlyPodOf(const QueueEvent& event);

// Returns the event that the removal of the pod's nomination to `node` is for other pods, whose
// attempts counted with the pod: the ASSIGNED_POD Delete event of the pod, with this nomination in
// its status even if the status never had it.
QueueEvent NominationRemovedEvent(const PodRef& pod, std::string_view node);

// Returns the event that a change of a pod with a nomination to `node` is for other pods: the
// ASSIGNED_POD event with this action, with the nomination in the status of both pods.
QueueEvent NominatedPodEvent(const PodRef& old, const PodRef& pod, std::string_view node,
                             uint32_t action);

// Returns the event's name in the metrics of this version of kube-scheduler, such as
// "AssignedPodDelete" or "NodeUpdateNodeTaint".
// (kube-scheduler: pkg/scheduler/framework/events.go, ClusterEvent.Label)
std::string EventLabel(const QueueEvent& event, KubeVersion emulated);

// --- object change -------------------------------------------------------------------------------
//
// Derives the events for waiting pods from a change of a pod or a node. Pure functions.
//
// kube-scheduler: pkg/scheduler/framework/events.go

// Returns the BERTH_ACTION_UPDATE_NODE_* bits of the change from `old` to `now`; every bit is one
// event. Returns 0 for a change that is no event, such as a heartbeat or a new image.
//   ALLOCATABLE       any amount differs, was added or was removed
//   LABEL             any label differs
//   TAINT             the list of taints differs, or the node became schedulable
//   CONDITION         the status of any condition differs, or one was added or removed
//   ANNOTATION        any annotation differs
//   DECLARED_FEATURE  the set of declared features differs
uint32_t NodeChange(const Node& old, const Node& now);

// Returns the BERTH_ACTION_UPDATE_POD_* bits of the change from `old` to `now`; every bit is one
// event. Returns BERTH_ACTION_UPDATE (all bits) for a change that is none of these, which is one
// event.
//   LABEL                        any label differs
//   SCALE_DOWN                   any amount that the pod accounts for, including a resize in
//                                progress, became smaller or was removed
//   TOLERATION                   the number of tolerations differs (the API allows no other change)
//   SCHEDULING_GATES_ELIMINATED  the last scheduling gate was removed
//   GENERATED_RESOURCE_CLAIM     the status names other claims
uint32_t PodChange(const Pod& old, const Pod& now);

// Returns the first event of a change: all bits of BERTH_ACTION_UPDATE, or else the lowest bit.
constexpr uint32_t FirstAction(uint32_t change) {
  return change == BERTH_ACTION_UPDATE ? change : change & (~change + 1);
}

// Returns whether only conditions, phase, nomination and resourceVersion differ. These are the
// fields that a scheduler itself writes; their change makes no pod schedulable.
bool OnlyStatusChanged(const Pod& old, const Pod& now);

// --- interest table ------------------------------------------------------------------------------
//
// Maps events to the plugins that registered for them.

// (kube-scheduler: pkg/scheduler/framework/events.go, MatchClusterEvents)
// Threading: the scheduling thread.
// Lifetime:  The interests passed to Build() must stay where they are until the next Build().
class InterestTable {
 public:
  // The parts of a pod that the hints of one plugin depend on.
  struct HintParts {
    uint64_t mask = 0;      // BERTH_PART
    bool each_pod = false;  // The parts are unknown: the hints must be called for every pod.
  };

  void Build(std::span<const Interest> interests);

  // Returns whether any plugin registered for events of this resource. REQUIRES: the resource is
  // known.
  bool HasAny(uint32_t resource) const { return !by_resource_[resource].empty(); }
  // Appends the interests that match the event, in the order of Build(). Appends none for a
  // WILDCARD event, which concerns every plugin.
  void Find(const QueueEvent& event, std::vector<const Interest*>& out) const;
  // Returns the pod parts that the plugin's hints depend on; none for a plugin without hints.
  HintParts PartsOf(PluginId plugin) const;

 private:
  static constexpr uint32_t kResourceCount = BERTH_RESOURCE_TARGET_POD + 1;

  // The interests by the resource of the event. For CUSTOM, only those in every resource.
  std::array<std::vector<const Interest*>, kResourceCount> by_resource_;
  StringMap<std::vector<const Interest*>> by_kind_;  // The interests in a CUSTOM event by kind.
  std::unordered_map<PluginId, HintParts> hint_parts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_EVENT_H_
