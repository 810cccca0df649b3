// What a change of a pod or a node means to the scheduler: where it goes, and which events it is to
// pods that wait. Pure functions.
//
// kube-scheduler: pkg/scheduler/eventhandlers.go and pkg/scheduler/framework/events.go.
#ifndef BERTH_HOST_EVENT_CLUSTER_EVENT_H_
#define BERTH_HOST_EVENT_CLUSTER_EVENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "host/api/assert.h"
#include "host/api/interner.h"
#include "host/api/objects.h"
#include "host/cluster/client.h"

namespace berth::host {

// ---- Where a change goes ------------------------------------------------------------------------

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

// ---- What a change is to pods that wait ---------------------------------------------------------

// Which BERTH_ACTION_UPDATE_NODE_* the change from `old` to `now` is: one event for each bit. 0: no
// event at all, as for heartbeats and new images.
//   ALLOCATABLE       any amount differs, appeared or vanished
//   LABEL             any label differs
//   TAINT             the list of taints differs, or the node became schedulable
//   CONDITION         the status of any condition differs, one appeared or vanished
//   ANNOTATION        any annotation differs
//   DECLARED_FEATURE  the set differs
uint32_t NodeChange(const Node& old, const Node& now);

// Which BERTH_ACTION_UPDATE_POD_* the change from `old` to `now` is: one event for each bit.
// BERTH_ACTION_UPDATE, all bits: none in particular, and that is one event.
//   LABEL                        any label differs
//   SCALE_DOWN                   any amount that it holds, a resize in progress counted in, became
//                                smaller or vanished
//   TOLERATION                   there are more or fewer (the API allows no other change)
//   SCHEDULING_GATES_ELIMINATED  the last gate is gone
//   GENERATED_RESOURCE_CLAIM     the status names other claims
uint32_t PodChange(const Pod& old, const Pod& now);

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_CLUSTER_EVENT_H_
