// The scheduling cycle: finds a node for one pod and reserves it. Then the binding cycle takes over
// (binding_cycle.h).
//
//   PreFilter -> Filter -> PreScore -> Score -> select -> assume -> Reserve -> Permit
//                     \-> PostFilter, if no node fits
//
// kube-scheduler: pkg/scheduler/schedule_one.go, ScheduleOne and schedulingCycle
#ifndef BERTH_HOST_CYCLE_SCHEDULE_ONE_H_
#define BERTH_HOST_CYCLE_SCHEDULE_ONE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/split_mix.h"
#include "host/cycle/binding_cycle.h"
#include "host/cycle/cycle_context.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/fit_error.h"
#include "host/cycle/handled_fields.h"
#include "host/plan/plan.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/evaluation.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/points/fresh_evaluation.h"
#include "host/runtime/points/run_permit.h"
#include "host/runtime/reuse/reused_evaluation.h"

namespace berth::host {

// Chooses between equally good nodes. A run can be repeated with the seed from its log.
class TieBreaker {
 public:
  explicit TieBreaker(uint64_t seed) : random_(seed) {}

  // Returns a number in [0, n). REQUIRES: n > 0.
  uint64_t Below(uint64_t n) {
    // The bias is at most n / 2^64, which is negligible for any number of nodes.
    return random_.Next() % n;
  }

 private:
  SplitMix64 random_;
};

// The result of one pod's scheduling cycle, as far as the cycle got.
struct CycleResult {
  PodRef pod;
  // Why the cycle ended early, or nullopt if it reached its last stage. The code BERTH_SKIP means
  // that the pod is being deleted and that no stage ran.
  std::optional<Failure> failure = {};
  // The selected node; kNoRow before the stage "select".
  Row row = kNoRow;
  // The pod's place on the node. Null before the stage "assume", and after the result was handed to
  // the binding cycle.
  std::unique_ptr<Reservation> reservation = nullptr;
  // The name of the node; empty before the stage "assume".
  std::string node = {};
  // The node that the pod was nominated to until the stage "assume", or empty.
  std::string former_nomination = {};
  // The plugins that make the pod wait on Permit.
  std::vector<PermitWait> waits = {};
  // Reserve or Permit if the cycle ended there, because a plugin rejected the node or failed.
  std::optional<Point> ended_at = {};

  berth_code code() const { return failure.has_value() ? failure->code : BERTH_SUCCESS; }
};

// Ends the nomination that the pod had before the stage "assume", if the pod goes to another node:
// the room that was kept on the former node becomes free, and pods that wait for it are requeued.
void EndFormerNomination(SchedulingQueue& queue, const CycleResult& result);

// Undoes what the cycle did from the stage "assume" on, without a report: destroys the reservation,
// if the result still has one, and restores the former nomination. The pod keeps its place in the
// queue.
void RollBack(SchedulingQueue& queue, CycleResult& result);

// Runs scheduling cycles for the pods of one profile.
//
// Threading: the scheduling thread.
// Lifetime:  the arguments of the constructor must outlive it.
class SchedulingCycle {
 public:
  // `seed` decides between equally good nodes. `attempts` counts the attempts of all profiles, so
  // that the number of an attempt (berth_cycle.id) is never used again, also after a reload.
  SchedulingCycle(const Plan& plan, const CycleContext& context, const HandledFields& fields,
                  const HostRejectors& rejectors, uint64_t seed, uint64_t& attempts);

  // Takes a pod that is in flight through its scheduling cycle. A pod that gets a node is handed to
  // its binding cycle; any other pod goes back to the queue or leaves it.
  void ScheduleOne(const PodRef& pod);

  // Runs all stages for the pod and leaves the result to the caller: ScheduleOne() and the group
  // cycle. Reuses answers of plugins from earlier calls.
  CycleResult Run(const PodRef& pod);

  // Runs all stages to find out the result, and rolls everything back. Asks every plugin about
  // every node again, so that findings() has all verdicts and scores. Changes nothing except the
  // state of the tie-breaker, and what plugins do in PostFilter or leave behind after Unreserve.
  // The pod may be in any place of the queue, or not in the queue.
  CycleResult Decide(const PodRef& pod);

  const Plan& plan() const { return plan_; }
  Attempt& attempt() { return attempt_; }
  const Attempt& attempt() const { return attempt_; }
  // The results of the stages in the last cycle. After Run(), the scores of the plugins are
  // missing, and if a node is feasible also the verdicts of the others. Valid until the next cycle.
  const NodeFindings& findings() const { return findings_; }

 private:
  CycleResult RunStages(const PodRef& pod, Evaluation& evaluation);

  // Checks of the host. Each returns why the cycle ends, or nullopt.
  std::optional<Failure> CheckPod(const Pod& pod) const;
  std::optional<Failure> CheckNodes() const;

  // The stages. Each reads what those before it left in findings_.
  PreFilterResult PreFilter();
  Filtered Filter(Evaluation& evaluation);
  Failure PostFilter();
  PluginStatus PreScore();
  Ranked Score(Evaluation& evaluation);
  Row Select();
  // Each returns why the cycle ends, or nullopt.
  std::optional<Failure> Assume(CycleResult& result);
  std::optional<Failure> Reserve(CycleResult& result);
  std::optional<Failure> Permit(CycleResult& result);

  Filtered FilterNodes(Evaluation& evaluation);
  bool NeedsScores() const;
  // Says in the failure if a plugin missed its deadline in this attempt.
  void NoteLateCall(const Pod& pod, Failure& failure) const;

  const Plan& plan_;
  const CycleContext& context_;
  const HandledFields& fields_;
  const HostRejectors rejectors_;
  Attempt attempt_;
  ReusedEvaluation reused_;
  FreshEvaluation fresh_{FreshEvaluation::Scores::kByPlugin};
  NodeFindings findings_;
  TieBreaker tie_breaker_;
  uint64_t& attempts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULE_ONE_H_
