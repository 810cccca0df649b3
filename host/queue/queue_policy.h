// The decisions of plugins for the queue: which pods may enter it, and which events requeue parked
// pods.
#ifndef BERTH_HOST_QUEUE_QUEUE_POLICY_H_
#define BERTH_HOST_QUEUE_QUEUE_POLICY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_POLICY_H_
