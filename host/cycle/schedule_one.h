// ScheduleOne: the way of one pod through a scheduling cycle.
//
//   PreFilter -> Filter -> PreScore -> Score -> pick -> assume
#ifndef BERTH_HOST_CYCLE_SCHEDULE_ONE_H_
#define BERTH_HOST_CYCLE_SCHEDULE_ONE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/cache/cache.h"
#include "host/cycle/handled_fields.h"
#include "host/cycle/tie_break.h"
#include "host/runtime/attempt.h"
#include "host/runtime/plan.h"

namespace berth::host {

// What an attempt came to.
struct Decision {
  // Success; Unschedulable: no node fits; UnschedulableAndUnresolvable: there is none, or the pod
  // asks for what nobody handles; Error: a plugin failed, try again later.
  berth_code code = BERTH_SUCCESS;
  // The pod is being deleted: nothing was tried.
  bool skipped = false;
  // Why not, as kube-scheduler words it. Empty on success.
  std::string message;
  // The node, when there is one.
  Row row = kNoRow;
};

// Decides for the pods of one plan.
//
// Threading: the scheduling thread.
// Lifetime:  plan, cache and fields must outlive it.
class Scheduler {
 public:
  Scheduler(const Plan& plan, Cache& cache, const HandledFields& fields, uint64_t seed)
      : plan_(plan),
        cache_(cache),
        fields_(fields),
        attempt_(plan, cache.table()),
        tie_breaker_(seed) {}

  // Where would the pod go? Changes nothing but the tie-breaker.
  Decision Decide(PodRef pod);

  // Decides, and on success assumes the pod on its node.
  Decision SchedulingCycle(PodRef pod);

  // What the last Decide() found, plugin by plugin and node by node. Valid until the next one.
  Attempt& attempt() { return attempt_; }
  const Attempt& attempt() const { return attempt_; }

  // The rows of the last decision that may be picked, ascending: those with the highest total.
  std::vector<Row> BestRows() const;

 private:
  Decision FindNode();
  // False: a plugin failed, and `decision` says so.
  bool Filter(Decision& decision);
  bool Score(Decision& decision);
  bool TryNominatedNode();
  Row PickRow();

  const Plan& plan_;
  Cache& cache_;
  const HandledFields& fields_;
  Attempt attempt_;
  TieBreaker tie_breaker_;
  uint64_t attempts_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULE_ONE_H_
