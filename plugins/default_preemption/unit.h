// What preemption removes from a node as a whole.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_UNIT_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_UNIT_H_

#include <cstdint>
#include <vector>

#include <berth/pod.h>

#include "room.h"

namespace preemption {

// One pod. A group whose pods end together will be a unit as well, so that callers do not assume
// that a unit is one pod.
//
// Lifetime: that of the pod's view.
class Unit {
 public:
  // `now_ns`: the present time; a pod that has not started counts as started now.
  Unit(const berth_pod& pod, int64_t now_ns)
      : pod_(&pod), started_ns_(pod.started_ns != 0 ? pod.started_ns : now_ns) {}

  int32_t priority() const { return pod_->priority; }
  // Returns when the unit started, in nanoseconds since 1970.
  int64_t started_ns() const { return started_ns_; }
  uint32_t pod_count() const { return 1; }
  // Returns what the unit occupies on the node.
  Room used() const { return UsedBy(*pod_); }
  // Calls `each(const berth_pod&)` for every pod of the unit on the node.
  template <class F>
  void ForEachPod(F&& each) const {
    each(*pod_);
  }

  // Returns whether `a` is kept before `b`: it has a higher priority, or the same priority and an
  // earlier start. kube-scheduler leaves the order of equal pods open; here the names and then
  // the uids decide, so that equal runs give equal results.
  // kube-scheduler: pkg/scheduler/util/utils.go, MoreImportantPod.
  static bool IsMoreImportant(const Unit& a, const Unit& b) {
    if (a.priority() != b.priority()) return a.priority() > b.priority();
    if (a.started_ns() != b.started_ns()) return a.started_ns() < b.started_ns();
    const berth::Pod left(*a.pod_);
    const berth::Pod right(*b.pod_);
    return left.name() != right.name() ? left.name() < right.name() : left.uid() < right.uid();
  }

  friend bool operator==(const Unit& a, const Unit& b) { return a.pod_ == b.pod_; }

 private:
  const berth_pod* pod_;
  int64_t started_ns_;
};

using Units = std::vector<Unit>;

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_UNIT_H_
