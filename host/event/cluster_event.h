// Decides what a change of a pod or a node means for the queue and the cache. Pure functions.
//
// kube-scheduler: pkg/scheduler/eventhandlers.go
#ifndef BERTH_HOST_EVENT_CLUSTER_EVENT_H_
#define BERTH_HOST_EVENT_CLUSTER_EVENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/interner.h"
#include "host/cluster/client.h"

namespace berth::host {

// An action on the queue or the cache. The queue holds pods without a node that name one of this
// scheduler's profiles; the cache holds all pods that have a node, whichever scheduler bound them.
enum class PodAction : uint8_t {
  kAddToQueue,
  // The pod may also be assumed, in flight or waiting, which the caller must handle.
  kUpdateInQueue,
  kRemoveFromQueue,
  // The pod was bound, by this scheduler or another one: it leaves the queue, but no room became
  // free.
  kRemoveBoundFromQueue,
  kAddToCache,  // Confirms the pod if it was assumed.
  kUpdateInCache,
  kRemoveFromCache,
  // The pod was deleted and its last state is unknown: remove it by its uid from the cache or the
  // queue, whichever has it. Neither may have it.
  kRemoveAnywhere,
};

struct PodStep {
  PodAction action = PodAction::kAddToQueue;
  PodRef pod;  // The current pod; for removals, its last known state.
  PodRef old;  // The previous pod for updates and kRemoveBoundFromQueue; otherwise null.
};

struct NodeStep {
  WatchType action = WatchType::kAdded;  // Never kSynced.
  NodeRef node;                          // The current node; for a deletion, its last known state.
  NodeRef old;                           // The previous node, for kModified.
};

// The steps for one change: at most two, to be taken in order.
template <class Step>
class Route {
 public:
  void Add(Step step) {
    BERTH_ASSERT(size_ < steps_.size());
    steps_[size_++] = std::move(step);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Step& operator[](size_t i) const {
    BERTH_ASSERT(i < size_);
    return steps_[i];
  }
  const Step* begin() const { return steps_.data(); }
  const Step* end() const { return steps_.data() + size_; }

 private:
  std::array<Step, 2> steps_;
  size_t size_ = 0;
};

using PodRoute = Route<PodStep>;
using NodeRoute = Route<NodeStep>;

// Returns the steps for a pod event. `event` must not be kSynced. `profiles` are the schedulerNames
// of this scheduler's profiles, as ids of the pods' interner; a pod that names one of them is
// called "ours" below.
//
//   added      with a node: added to the cache. Without a node and ours: added to the queue.
//              Otherwise no step.
//   modified   the same resourceVersion on both sides: no step; otherwise a pod could be scheduled
//              twice (kubernetes issue 96071).
//              with a node before and after: updated in the cache. If the node changed, which no
//              API server allows, the pod is removed and added again; kube-scheduler ends the
//              process.
//              without a node before, with one now: added to the cache, and removed from the queue
//              if ours.
//              without a node: updated in the queue if ours. If schedulerName changed, which the
//              API does not allow, the pod is added or removed.
//              with another uid than before: the deletion of the old pod was missed. The old pod is
//              removed wherever it is, before the new one is added.
//   deleted    removed from the cache if it had a node, otherwise from the queue if ours; with
//              `final_state_unknown`, removed wherever it is.
PodRoute ClassifyPodEvent(const WatchEvent& event, std::span<const Id> profiles);

// Returns the steps for a node event: no step for an unchanged resourceVersion, a deletion and an
// addition for another uid, otherwise the event itself.
NodeRoute ClassifyNodeEvent(const WatchEvent& event);

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_CLUSTER_EVENT_H_
