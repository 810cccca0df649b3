// The plugins' say in the queue: who may enter, and what brings a parked pod back.
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

// One plugin of one profile: equal names, equal ids, for as long as the process lives, whatever is
// reloaded meanwhile.
using PluginId = uint32_t;

// What one plugin registered for.
struct Interest {
  PluginId plugin = 0;
  uint32_t index = 0;      // Into the plugin's interests: berth_event.interest.
  uint32_t resource = 0;   // BERTH_RESOURCE_*; WILDCARD: all of them.
  uint32_t actions = 0;    // BERTH_ACTION_*
  std::string kind = {};   // Of BERTH_RESOURCE_CUSTOM: "group/version/Kind".
  bool has_hint = false;   // False: every such event queues the pod.
  uint64_t pod_parts = 0;  // See berth_event_interest; 0: ask for each pod.
};

// Who holds a pod back, and why.
struct Gate {
  PluginId plugin = 0;
  berth_code code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
  std::vector<std::string> reasons = {};
};

// The seam to PreEnqueue and EnqueueExtensions.
// Threading: [queue].
class QueuePolicy {
 public:
  virtual ~QueuePolicy() = default;

  // The first plugin of the pod's profile that holds it back; none: it may be tried. `first`, which
  // held it back before, is asked before the others, if it is still there.
  virtual std::optional<Gate> PreEnqueue(const PodRef& pod, std::optional<PluginId> first) = 0;
  // Of all plugins of all profiles. Stays as it is until SchedulingQueue::PolicyChanged().
  virtual std::span<const Interest> interests() const = 0;
  // True: try the pod again. REQUIRES: interest.has_hint. A plugin that fails says true.
  virtual bool Hint(const Interest& interest, const berth_queued& queued,
                    const berth_event& event) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_POLICY_H_
