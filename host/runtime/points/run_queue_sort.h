// QueueSort: the order in which pods are scheduled.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_QUEUE_SORT_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_QUEUE_SORT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include <berth/abi.h>

#include "host/plan/plan.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// The order of the plan's QueueSort plugin, of which a plan has exactly one.
// Lifetime: the plan must live until another plan is set.
class PluginQueueOrder final : public QueueOrder {
 public:
  // Sets the plan whose plugin orders the queue from now on. The caller must then call
  // SchedulingQueue::PolicyChanged().
  // REQUIRES: a plan is set before the queue holds a pod.
  void SetPlan(const Plan& plan);

  bool has_key() const override { return sort_ != nullptr && sort_->key != nullptr; }
  SortKey KeyOf(const berth_queued& queued) const override;
  bool Less(const berth_queued& a, const berth_queued& b) const override;
  bool has_lanes() const override { return sort_ != nullptr && sort_->lane != nullptr; }
  uint64_t LaneOf(const berth_queued& queued) const override;
  // Returns the first lane if the plugin returns an index that is out of range, which is a fault of
  // the plugin.
  size_t NextLane(std::span<const berth_lane> lanes) const override;

 private:
  const PlannedPlugin* plugin_ = nullptr;
  const berth_queue_sort_2* sort_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_QUEUE_SORT_H_
