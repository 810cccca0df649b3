// PreEnqueue and EnqueueExtensions: the plugins of all profiles as the queue sees them.
#ifndef BERTH_HOST_RUNTIME_RUN_PRE_ENQUEUE_H_
#define BERTH_HOST_RUNTIME_RUN_PRE_ENQUEUE_H_

#include <optional>
#include <span>
#include <vector>

#include "host/queue/queue_policy.h"
#include "host/runtime/plan.h"
#include "host/runtime/plugin_ids.h"

namespace berth::host {

// Threading: [queue].
// Lifetime:  plans that were set must live until others are.
class PluginQueuePolicy final : public QueuePolicy {
 public:
  explicit PluginQueuePolicy(PluginIds& ids) : ids_(ids) {}

  // The plans of all profiles, one per schedulerName. SchedulingQueue::PolicyChanged() is then due.
  // A plugin has interests when it has PreEnqueue, PreFilter, Filter, Reserve or Permit: those of
  // its EnqueueExtensions; without the point, in everything. `others`: the host's own.
  void SetPlans(const std::vector<const Plan*>& plans, std::vector<Interest> others);

  // Of no profile: no gate. Error: gated, and logged.
  std::optional<Gate> PreEnqueue(const PodRef& pod, std::optional<PluginId> first) override;
  std::span<const Interest> interests() const override { return interests_; }
  bool Hint(const Interest& interest, const berth_queued& queued,
            const berth_event& event) override;

 private:
  // Who may hold back the pods of one profile, in its order.
  struct Gatekeepers {
    const Plan* plan;
    std::vector<PluginId> plugins;
  };

  void AddPlugin(const Plan& plan, uint32_t plugin);
  const Gatekeepers* GatekeepersOf(const Pod& pod) const;
  std::optional<Gate> Ask(PluginId id, const Pod& pod) const;

  PluginIds& ids_;
  std::vector<Gatekeepers> gatekeepers_;
  std::vector<const PlannedPlugin*> instances_;  // By id; null: not in any plan.
  std::vector<Interest> interests_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_PRE_ENQUEUE_H_
