// Maps events to the plugins that registered for them.
#ifndef BERTH_HOST_QUEUE_INTEREST_TABLE_H_
#define BERTH_HOST_QUEUE_INTEREST_TABLE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/base/string_map.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

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

#endif  // BERTH_HOST_QUEUE_INTEREST_TABLE_H_
