// PreEnqueue and EnqueueExtensions: the queue's interface to the plugins of all profiles.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_PRE_ENQUEUE_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_PRE_ENQUEUE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <berth/abi.h>

#include "host/plan/plan.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Threading: [queue].
// Lifetime:  plans must live until others are set.
class PluginQueuePolicy final : public QueuePolicy {
 public:
  // Sets the plans of all profiles, one per schedulerName. The caller must then call
  // SchedulingQueue::PolicyChanged(). A plugin has interests if it runs at PreEnqueue, PreFilter,
  // Filter, Reserve or Permit: those of its EnqueueExtensions or, without that point, an interest
  // in every event. `others`: the interests of the host itself.
  void SetPlans(const std::vector<const Plan*>& plans, std::vector<Interest> others);

  // Returns no gate for a pod without a profile. An error of a plugin gates the pod, and is logged.
  std::optional<Gate> PreEnqueue(const PodRef& pod, const berth_queued& queued,
                                 std::optional<PluginId> first) override;
  std::span<const Interest> interests() const override { return interests_; }
  bool Hint(const Interest& interest, const berth_queued& queued,
            const berth_event& event) override;

 private:
  // The PreEnqueue plugins of one profile, in its order.
  struct Gatekeepers {
    const Plan* plan;
    std::vector<PluginId> plugins;
  };

  void AddPlugin(const Plan& plan, uint32_t plugin);
  const Gatekeepers* GatekeepersOf(const Pod& pod) const;
  std::optional<Gate> RunPlugin(PluginId id, const berth_queued& queued) const;

  std::vector<Gatekeepers> gatekeepers_;
  // Indexed by PluginId; null if no plan has the plugin.
  std::vector<const PlannedPlugin*> instances_;
  std::vector<Interest> interests_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_PRE_ENQUEUE_H_
