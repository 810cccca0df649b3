// ScheduleOne: the way of one pod through a scheduling cycle.
//
//   PreFilter -> Filter -> PreScore -> Score -> pick
//                       `-> PostFilter, where no node is left
#ifndef BERTH_HOST_CYCLE_SCHEDULE_ONE_H_
#define BERTH_HOST_CYCLE_SCHEDULE_ONE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/cache/cache.h"
#include "host/cycle/fit_error.h"
#include "host/cycle/handled_fields.h"
#include "host/cycle/tie_break.h"
#include "host/queue/nominator.h"
#include "host/runtime/attempt.h"
#include "host/runtime/plan.h"

namespace berth::host {

// The host itself rejects a pod that uses a field that no plugin handles, and every pod while there
// is no node: under these names, so that the queue knows what to wait for. The first waits for a
// change of the pod or of the plugins, the second for a node. (Upstream lets a pod without nodes
// back off and try again, for ever.)
inline constexpr std::string_view kUnhandledField = "berth.UnhandledField";
inline constexpr std::string_view kNoNodes = "berth.NoNodes";

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
  // Who said no, when no node fits.
  RejectorNames rejectors;
  // False: the pod keeps the nomination that it has. True: it becomes `nominated_node`; empty:
  // none.
  bool overrides_nomination = true;
  std::string nominated_node;
};

// Decides for the pods of one plan.
//
// Threading: the scheduling thread.
// Lifetime:  plan, cache, fields and nominator must outlive it.
class Scheduler {
 public:
  // `nominator` has the pods that room is kept for.
  Scheduler(const Plan& plan, Cache& cache, const HandledFields& fields, const Nominator& nominator,
            uint64_t seed)
      : plan_(plan),
        fields_(fields),
        nominator_(nominator),
        attempt_(plan, cache.table()),
        tie_breaker_(seed) {}

  // Where does the pod go? Changes nothing but the tie-breaker, and what PostFilter does.
  Decision Decide(PodRef pod);

  const Plan& plan() const { return plan_; }
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
  Decision NoNodeFits();
  bool TryNominatedNode();
  Row PickRow();

  const Plan& plan_;
  const HandledFields& fields_;
  const Nominator& nominator_;
  Attempt attempt_;
  TieBreaker tie_breaker_;
  uint64_t attempts_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULE_ONE_H_
