// Where a change of a pod or a node goes. Pure functions.
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

// The queue holds pods without a node that name one of our profiles; the cache holds all pods that
// have a node, whoever put them there.
enum class PodAction : uint8_t {
  kAddToQueue,
  kUpdateInQueue,  // Also for a pod that is assumed, in flight or waiting: the queue's owner knows.
  kRemoveFromQueue,
  // Somebody, mostly we, has bound it: it leaves the queue, and no place has become free.
  kTakeFromQueue,
  kAddToCache,  // Confirms it where it is assumed.
  kUpdateInCache,
  kRemoveFromCache,
  // It is gone, and how it was last is not known: remove it by its uid from wherever it is, cache
  // or queue. It may be nowhere.
  kRemoveAnywhere,
};

struct PodStep {
  PodAction action = PodAction::kAddToQueue;
  PodRef pod;  // As it is now; of removals: as it was last known.
  PodRef old;  // Of updates, and of kTakeFromQueue, as it was before. Otherwise null.
};

struct NodeStep {
  WatchType action = WatchType::kAdded;  // Never kSynced.
  NodeRef node;                          // As it is now, or was last.
  NodeRef old;                           // kModified: as it was.
};

// What to do about one change: at most two steps, to be taken in order.
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

// `event` is about a pod and not kSynced. `profiles` are the schedulerNames of our profiles, as ids
// of the pods' interner.
//
//   added      with a node: to the cache; without, and ours: to the queue; neither: nothing.
//   modified   the same resourceVersion on both sides: nothing. A pod would be scheduled twice
//              (kubernetes issue 96071).
//              with a node before and after: updated in the cache. Another node than before, which
//              no API server allows: removed and added again; upstream ends the process.
//              without and then with a node: added to the cache, and taken from the queue if ours.
//              without a node: updated in the queue if ours. schedulerName cannot change by the
//              API; where it does, the pod is added or removed.
//              another uid than before: the old pod went unseen and is removed wherever it is; then
//              the new one is added. Both in this order, because the queue knows pods by name too.
//   deleted    removed from the cache if it had a node, otherwise from the queue if ours; with
//              `final_state_unknown`, wherever it is.
PodRoute ClassifyPodEvent(const WatchEvent& event, std::span<const Id> profiles);

// The same for a node: nothing for an unchanged resourceVersion, deletion and addition for another
// uid, otherwise the event as it is.
NodeRoute ClassifyNodeEvent(const WatchEvent& event);

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_CLUSTER_EVENT_H_
