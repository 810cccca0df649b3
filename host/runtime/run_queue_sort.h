// QueueSort: in which order pods are tried.
#ifndef BERTH_HOST_RUNTIME_RUN_QUEUE_SORT_H_
#define BERTH_HOST_RUNTIME_RUN_QUEUE_SORT_H_

#include <berth/abi.h>

#include "host/queue/queue_order.h"
#include "host/runtime/plan.h"

namespace berth::host {

// The order that the plan's one QueueSort plugin gives.
// Lifetime: the plan must live until another is set.
class PluginQueueOrder final : public QueueOrder {
 public:
  explicit PluginQueueOrder(const Plan& plan) { SetPlan(plan); }

  // SchedulingQueue::PolicyChanged() is then due.
  void SetPlan(const Plan& plan);

  bool has_key() const override { return sort_->key != nullptr; }
  SortKey KeyOf(const berth_queued& queued) const override;
  bool Less(const berth_queued& a, const berth_queued& b) const override;

 private:
  const PlannedPlugin* plugin_ = nullptr;
  const berth_queue_sort* sort_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_QUEUE_SORT_H_
