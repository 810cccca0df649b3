// Filter: finds the nodes that can run the pod.
#ifndef BERTH_HOST_RUNTIME_RUN_FILTER_H_
#define BERTH_HOST_RUNTIME_RUN_FILTER_H_

#include <deque>

#include "host/queue/nominator.h"
#include "host/runtime/attempt.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Runs the Filters over `attempt.candidates`, block by block; within a block plugin by plugin, each
// over the rows that passed the previous one. A whole Filter (BERTH_FILTER_WHOLE) is called once,
// over the rows of all blocks that passed the Filters before it. Fills in `verdicts` of the
// rejected rows and `feasible`.
//
// A row with nominated pods that count against this pod (CountsAgainst) must also pass with those
// pods added, which is tried first; a rejection then is the verdict of the row. This costs a
// what-if for each such row. Pods of other schedulers are not in the nominator.
//
// Threading: [cycle]; calls plugins under [block].
// Returns:   success; an error when a plugin failed, which fails the cycle.
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunFilterPluginsWithNominatedPods)
PluginStatus RunFilter(Attempt& attempt, const Nominator& nominator);

// Lets several runs of the Filters of one attempt count one fault of each plugin at most, together
// with the what-if questions of the attempt.
// Lifetime:  the attempt must outlive it.
class FilterFaultLimit {
 public:
  explicit FilterFaultLimit(Attempt& attempt);

 private:
  std::deque<FaultLimit> limits_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_FILTER_H_
