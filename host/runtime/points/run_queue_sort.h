// QueueSort and Entity: the order in which pods are scheduled.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_QUEUE_SORT_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_QUEUE_SORT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/plan/plan.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// The order of the first plan's QueueSort plugin, of which a plan has exactly one, and the entities
// that the plugin of each pod's own plan names.
// Lifetime: the plans must live until others are set.
class PluginQueueOrder final : public QueueOrder {
 public:
  // Sets the plans of all profiles; the plugin of the first one orders the queue from now on. The
  // caller must then call SchedulingQueue::PolicyChanged().
  // REQUIRES: `plans` is not empty, and plans are set before the queue holds a pod.
  void SetPlans(const std::vector<const Plan*>& plans);

  bool has_key() const override { return sort_ != nullptr && sort_->key != nullptr; }
  SortKey KeyOf(const berth_queued& queued) const override;
  bool Less(const berth_queued& a, const berth_queued& b) const override;
  bool has_lanes() const override { return sort_ != nullptr && sort_->lane != nullptr; }
  uint64_t LaneOf(const berth_queued& queued) const override;
  // Returns the first lane if the plugin returns an index that is out of range, which is a fault of
  // the plugin.
  size_t NextLane(std::span<const berth_lane> lanes) const override;
  bool has_shared_entities() const override { return !namers_.empty(); }
  // Returns no entity while the plugin is quarantined.
  std::string SharedEntityOf(const PodRef& pod) const override;

 private:
  // The Entity plugin of a plan.
  struct Namer {
    const Plan* plan;
    const PlannedPlugin* plugin;
  };

  const PlannedPlugin* plugin_ = nullptr;
  const berth_queue_sort_2* sort_ = nullptr;
  std::vector<Namer> namers_;  // One for each plan with a plugin that implements Entity.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_QUEUE_SORT_H_
