// Which plugins registered for which events.
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
// Lifetime:  interests must stay where they are until the next Build().
class InterestTable {
 public:
  // What the hints of one plugin look at in a pod.
  struct Parts {
    uint64_t mask = 0;      // BERTH_PART
    bool each_pod = false;  // There is no telling: they must be asked about each pod.
  };

  void Build(std::span<const Interest> interests);

  // Somebody may hear of events of this resource. REQUIRES: the resource is known.
  bool HasAny(uint32_t resource) const { return !by_resource_[resource].empty(); }
  // Appends those that the event is for, in the order in which they were given. None for
  // a WILDCARD event, which is for everybody.
  void Find(const QueueEvent& event, std::vector<const Interest*>& out) const;
  // Of no interest with a hint: nothing.
  Parts PartsOf(PluginId plugin) const;

 private:
  static constexpr uint32_t kResourceCount = BERTH_RESOURCE_TARGET_POD + 1;

  // By the resource of the event, other than CUSTOM.
  std::array<std::vector<const Interest*>, kResourceCount> by_resource_;
  StringMap<std::vector<const Interest*>> by_kind_;  // Of CUSTOM.
  std::unordered_map<PluginId, Parts> parts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_INTEREST_TABLE_H_
