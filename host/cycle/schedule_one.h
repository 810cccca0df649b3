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

#include "host/cycle/decision_sink.h"
#include "host/cycle/handled_fields.h"
#include "host/cycle/host_rejectors.h"
#include "host/cycle/reservation.h"
#include "host/cycle/scheduler_parts.h"
#include "host/cycle/tie_breaker.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/points/run_permit.h"
#include "host/runtime/reuse/class_cache.h"

namespace berth::host {

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
  SchedulingCycle(const Plan& plan, const SchedulerParts& parts, const HandledFields& fields,
                  const HostRejectors& rejectors, uint64_t seed, uint64_t& attempts);

  // Takes a pod that is in flight through its scheduling cycle. A pod that gets a node is handed to
  // its binding cycle; any other pod goes back to the queue or leaves it.
  void ScheduleOne(const PodRef& pod);

  // Runs all stages for the pod and leaves the result to the caller: ScheduleOne() and the group
  // cycle. Reuses answers of plugins from earlier calls (class_cache.h).
  CycleResult Run(const PodRef& pod);

  // Runs all stages to find out the result, and rolls everything back. Asks every plugin about
  // every node again, so that all answers are in attempt(). Changes nothing except the
  // state of the tie-breaker, and what plugins do in PostFilter or leave behind after Unreserve.
  // The pod may be in any place of the queue, or not in the queue. The caller ends the attempt:
  // attempt().End().
  CycleResult Decide(const PodRef& pod);

  const Plan& plan() const { return plan_; }
  // The answers of the plugins, by plugin and node, in the last cycle that passed the checks of the
  // pod itself (deletion, unhandled fields). After Run(), those that were reused are missing, and
  // the scores of the plugins, which only Decide() keeps. Valid until the next cycle.
  Attempt& attempt() { return attempt_; }
  const Attempt& attempt() const { return attempt_; }
  // Returns the rows with the highest total score in the last cycle, ascending: the nodes that the
  // stage "select" chose from. For the report of `berth explain`. REQUIRES: the last cycle was that
  // of Decide().
  std::vector<Row> BestRows() const;

 private:
  enum class Answers : uint8_t { kReused, kFresh };
  CycleResult RunStages(const PodRef& pod, Answers answers);

  // The stages. Each returns false if the cycle ends with it, and has then set result.failure.
  bool CheckPod(CycleResult& result) const;
  bool CheckNodes(CycleResult& result) const;
  bool PreFilter(CycleResult& result);
  bool Filter(CycleResult& result);
  PluginStatus FilterNodes();
  void PostFilter(CycleResult& result);
  bool PreScore(CycleResult& result);
  bool Score(CycleResult& result);
  void Select(CycleResult& result);
  bool Assume(CycleResult& result);
  bool Reserve(CycleResult& result);
  bool Permit(CycleResult& result);

  bool TryNominatedNode();
  PluginStatus FilterCandidates();
  PluginStatus ScoreFeasible();
  bool NeedsScores() const;

  const Plan& plan_;
  const SchedulerParts& parts_;
  const HandledFields& fields_;
  const HostRejectors rejectors_;
  Attempt attempt_;
  ClassCache classes_;
  Answers answers_ = Answers::kReused;  // How the current cycle gets answers.
  TieBreaker tie_breaker_;
  uint64_t& attempts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULE_ONE_H_
