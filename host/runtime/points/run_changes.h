// Changes: delivers every change of the node table to the plugins that subscribe to it.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_CHANGES_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_CHANGES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/base/keyed_set.h"
#include "host/cache/cache.h"
#include "host/plan/plan.h"
#include "host/queue/queue_policy.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {

// Delivers changes to every plugin that implements the point, even if its profile does not use the
// plugin at other points: an index of a plugin that misses changes would be wrong. Plans get a
// change in the order in which they were added, and the plugins of a plan in the plan's order.
//
// A pod is pending while it is in the queue and not in the cache. While it is assumed, it is in
// both.
//
// Threading: the scheduling thread.
// Lifetime:  cache and queue must outlive it; plans must be removed before they are destroyed.
class ChangeHub final : public CacheObserver, public PendingObserver {
 public:
  // Registers as the observer of the cache and of the queue, which may be null.
  explicit ChangeHub(Cache& cache, SchedulingQueue* queue = nullptr);
  ~ChangeHub() override;
  ChangeHub(const ChangeHub&) = delete;
  ChangeHub& operator=(const ChangeHub&) = delete;

  // Delivers the present state to the plan's subscribers (REPLAY: the nodes, then the pods, both by
  // row, then the pending pods in the order of their creation), then SYNCED, and every change from
  // then on. A replay is no change: it carries the sequence number of the last change, and other
  // plans do not get it. An instance that subscribes already, as one of another plan, gets no
  // replay: it becomes a subscriber of this plan.
  void AddPlan(const Plan& plan);
  // Stops deliveries to the plan's subscribers. Does nothing if the plan was never added.
  void RemovePlan(const Plan& plan);
  // The sequence number of the last change, whether or not there are subscribers.
  uint64_t sequence() const { return sequence_; }

  void OnPodAdded(Row row, const PodRef& pod, bool assumed) override;
  void OnPodChanged(Row row, const PodRef& old, const PodRef& pod) override;
  void OnPodRemoved(Row row, const PodRef& pod, bool forgotten) override;
  void OnNodeAdded(Row row, const NodeRef& node) override;
  void OnNodeChanged(Row row, const NodeRef& old, const NodeRef& node) override;
  void OnNodeRemoved(Row row, const NodeRef& node) override;
  void OnQueued(const PodRef& pod) override;
  void OnUnqueued(std::string_view uid) override;

 private:
  // A pod in the queue.
  struct QueuedPod {
    PodRef pod;  // The version that was delivered last, or the queue's if it is not pending.
    bool is_pending = false;
  };
  struct UidOf {
    std::string_view operator()(const QueuedPod& queued) const { return queued.pod->uid(); }
  };
  struct Subscriber {
    const Plan* plan;
    const PlannedPlugin* plugin;
  };

  berth_change MakeChange(uint32_t kind, Row row) const;
  berth_change MakePodChange(uint32_t kind, Row row, const PodRef& pod) const;
  berth_change MakePendingChange(uint32_t kind, const PodRef& pod) const;
  void Replay(const PlannedPlugin& plugin) const;
  std::vector<PodRef> PendingPods() const;
  void NotifyAll(berth_change change);

  Cache& cache_;
  SchedulingQueue* const queue_;
  KeyedSet<QueuedPod, UidOf> queued_;
  std::vector<Subscriber> subscribers_;
  uint64_t sequence_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_CHANGES_H_
