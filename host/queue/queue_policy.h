// The interfaces of the queue to others: which pods may enter it, which events requeue parked pods,
// the order of the entities, and an observer of the pods in it.
#ifndef BERTH_HOST_QUEUE_QUEUE_POLICY_H_
#define BERTH_HOST_QUEUE_QUEUE_POLICY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"

namespace berth::host {

// Identifies one plugin of one profile by its name. The same plugin keeps its id for the lifetime
// of the process, across reloads.
using PluginId = uint32_t;

// One event that a plugin registered for.
struct Interest {
  PluginId plugin = 0;
  uint32_t index = 0;      // The index into the plugin's interests: berth_event.interest.
  uint32_t resource = 0;   // BERTH_RESOURCE_*; WILDCARD for all resources.
  uint32_t actions = 0;    // BERTH_ACTION_*
  std::string kind = {};   // For BERTH_RESOURCE_CUSTOM: "group/version/Kind".
  bool has_hint = false;   // False if every such event requeues the pod.
  uint64_t pod_parts = 0;  // See berth_event_interest; 0 if the hint must be called for each pod.
};

// The plugin whose PreEnqueue rejected a pod, with its status.
struct Gate {
  PluginId plugin = 0;
  berth_code code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
  std::vector<std::string> reasons = {};
};

// The queue's interface to PreEnqueue and EnqueueExtensions.
// Threading: [queue].
class QueuePolicy {
 public:
  virtual ~QueuePolicy() = default;

  // Runs PreEnqueue of the pod's profile. Returns the first plugin that rejects the pod, or nothing
  // if the pod may enter the active queue. `queued`: the pod as plugins get it. `first` is the
  // plugin that rejected the pod last time; it runs before the others if it still exists.
  virtual std::optional<Gate> PreEnqueue(const PodRef& pod, const berth_queued& queued,
                                         std::optional<PluginId> first) = 0;
  // Returns the interests of all plugins of all profiles. They stay unchanged until
  // SchedulingQueue::PolicyChanged().
  virtual std::span<const Interest> interests() const = 0;
  // Calls the interest's hint. Returns true if the pod is to be tried again, also when the plugin
  // fails. REQUIRES: interest.has_hint.
  virtual bool Hint(const Interest& interest, const berth_queued& queued,
                    const berth_event& event) = 0;
};

// --- queue order ---------------------------------------------------------------------------------
//
// The order in which entities leave the queue.

using SortKey = std::array<uint8_t, BERTH_SORT_KEY_SIZE>;

// The queue's interface to the plugins of QueueSort and Entity.
// Threading: [queue].
class QueueOrder {
 public:
  virtual ~QueueOrder() = default;

  // Returns true if entities are ordered by their keys, byte by byte, lowest first.
  virtual bool has_key() const = 0;
  // Returns the entity's sort key. REQUIRES: has_key().
  virtual SortKey KeyOf(const berth_queued& queued) const = 0;
  // Returns true if `a` is to be tried before `b`. REQUIRES: !has_key().
  virtual bool Less(const berth_queued& a, const berth_queued& b) const = 0;

  // Returns true if the active queue is divided into lanes. The order above is then that within a
  // lane.
  virtual bool has_lanes() const { return false; }
  // Returns the number of the entity's lane. REQUIRES: has_lanes().
  virtual uint64_t LaneOf(const berth_queued& /*queued*/) const { return 0; }
  // Returns the index of the lane whose first entity is tried now; it is below lanes.size().
  // Called: once for each entity that is taken from the active queue.
  // REQUIRES: has_lanes(), and `lanes` is not empty.
  virtual size_t NextLane(std::span<const berth_lane> /*lanes*/) const { return 0; }

  // Returns true if pods may share an entity. Active pods that share one then leave their lane one
  // after another; see LaneQueue.
  virtual bool has_shared_entities() const { return false; }
  // Returns the text that names the entity which the pod shares with other pods of its namespace;
  // empty if it shares none. REQUIRES: has_shared_entities().
  virtual std::string SharedEntityOf(const PodRef& /*pod*/) const { return ""; }
};

// --- pending observer ----------------------------------------------------------------------------
//
// The observer of the pods in the queue.

// Threading: the scheduling thread.
// Must not:  change the queue.
class PendingObserver {
 public:
  virtual ~PendingObserver() = default;

  // Called: when a pod enters the queue or gets a new version there, also in flight, before
  //         PreEnqueue runs for it. It may be called again with the same version.
  virtual void OnQueued(const PodRef& pod) = 0;
  // Called: when a pod leaves the queue: it was deleted, was bound, or no profile is responsible
  //         for it any more. A pod in flight leaves the queue at once, although its attempt goes
  //         on.
  virtual void OnUnqueued(std::string_view uid) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_POLICY_H_
