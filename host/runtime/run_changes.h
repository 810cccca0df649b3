// Changes: every change of the node table, told to the plugins that keep an index of their own.
#ifndef BERTH_HOST_RUNTIME_RUN_CHANGES_H_
#define BERTH_HOST_RUNTIME_RUN_CHANGES_H_

#include <cstdint>
#include <vector>

#include <berth/abi.h>

#include "host/cache/cache.h"
#include "host/cache/cache_observer.h"
#include "host/runtime/plan.h"

namespace berth::host {

// Whoever has the point is told, wherever else its profile uses it: an index that misses changes is
// wrong. Plans are told in the order in which they were added, a plan's plugins in its order.
//
// Threading: the scheduling thread.
// Lifetime:  the cache must outlive it; plans are removed before they are dropped.
class ChangeHub final : public CacheObserver {
 public:
  // Becomes the cache's observer.
  explicit ChangeHub(Cache& cache);
  ~ChangeHub() override;
  ChangeHub(const ChangeHub&) = delete;
  ChangeHub& operator=(const ChangeHub&) = delete;

  // Shows the plan's subscribers all there is (REPLAY: the nodes, then the pods, both by row), then
  // SYNCED, and every change from then on. What is shown here is no change: it has the number of
  // the last one, and no other plan sees it.
  void AddPlan(const Plan& plan);
  // Its plugins are told nothing more. One that was never added is no error.
  void RemovePlan(const Plan& plan);
  // Of the last change, whether or not anybody was told.
  uint64_t sequence() const { return sequence_; }

  void OnPodAdded(Row row, const PodRef& pod, bool assumed) override;
  void OnPodChanged(Row row, const PodRef& old, const PodRef& pod) override;
  void OnPodRemoved(Row row, const PodRef& pod, bool forgotten) override;
  void OnNodeAdded(Row row, const NodeRef& node) override;
  void OnNodeChanged(Row row, const NodeRef& old, const NodeRef& node) override;
  void OnNodeRemoved(Row row, const NodeRef& node) override;

 private:
  struct Subscriber {
    const Plan* plan;
    const PlannedPlugin* plugin;
  };

  berth_change Make(uint32_t kind, Row row) const;
  berth_change MakeOfPod(uint32_t kind, Row row, const PodRef& pod) const;
  void Replay(const PlannedPlugin& plugin) const;
  void TellAll(berth_change change);

  Cache& cache_;
  std::vector<Subscriber> subscribers_;
  uint64_t sequence_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_CHANGES_H_
