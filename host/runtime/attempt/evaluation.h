// How the nodes are filtered and scored for the pods of a profile.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_EVALUATION_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_EVALUATION_H_

#include "host/queue/nominator.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/filtered.h"
#include "host/runtime/attempt/ranked.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// FreshEvaluation (points/fresh_evaluation.h) asks the plugins about every node. ReusedEvaluation
// (reuse/reused_evaluation.h) asks them only about nodes whose answers it does not have. Both find
// the same feasible nodes, verdicts, totals and best nodes.
//
// Threading: [cycle]; calls plugins under [cycle] and [block].
class Evaluation {
 public:
  Evaluation() = default;
  virtual ~Evaluation() = default;
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Finds the candidates that pass the Filters of the attempt. A candidate with nominated pods that
  // count against this pod (what_if.h) must also pass with those pods added, which is tried first;
  // a rejection then is the verdict of the row. Pods of other schedulers are not in the nominator.
  // REQUIRES: PreFilter ran in this attempt and did not reject the pod.
  // (kube-scheduler: pkg/scheduler/framework/runtime/framework.go,
  // RunFilterPluginsWithNominatedPods)
  virtual Filtered Filter(Attempt& attempt, const Selection& candidates,
                          const Nominator& nominator) = 0;

  // Scores the feasible rows with every Score plugin that did not skip, normalizes and weights the
  // scores, and adds them up.
  // REQUIRES: `filtered` is the last result of Filter() and has a feasible row; PreScore ran since.
  virtual Ranked Score(Attempt& attempt, const Filtered& filtered) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_EVALUATION_H_
