#include "host/cycle/schedule_one.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/cycle/cycle_meter.h"
#include "host/cycle/failure_handler.h"
#include "host/cycle/fit_error.h"
#include "host/cycle/waiting_pods.h"
#include "host/runtime/attempt/fault_limits.h"
#include "host/runtime/attempt/point_meter.h"
#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_post_filter.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/points/run_reserve.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/reuse/totals_tree.h"

namespace berth::host {
namespace {

// A plugin failed, or the host could not do what the stage is for: the pod backs off.
Failure ErrorFailure(const PluginStatus& status) { return {.message = status.Message()}; }

// The failure for a result of Reserve or Permit, which is about the selected node alone. A
// rejection parks the pod until an event that the plugin registered for; after Pending, this event
// requeues the pod without backoff.
Failure OneNodeFailure(const PluginStatus& status) {
  if (!status.rejected()) return ErrorFailure(status);
  Failure failure{.code = status.code, .message = OneNodeFitError(status.reasons)};
  (status.code == BERTH_PENDING ? failure.rejection.pending
                                : failure.rejection.plugins) = {status.plugin.value()};
  return failure;
}

}  // namespace

SchedulingCycle::SchedulingCycle(const Plan& plan, const SchedulerParts& parts,
                                 const HandledFields& fields, const HostRejectors& rejectors,
                                 uint64_t seed, uint64_t& attempts)
    : plan_(plan),
      parts_(parts),
      fields_(fields),
      rejectors_(rejectors),
      attempt_(plan, parts.cache.table()),
      classes_(parts.reuse),
      tie_breaker_(seed),
      attempts_(attempts) {
  if (parts.meter != nullptr) attempt_.SetMeter(&parts.meter->PointsOf(plan.scheduler_name()));
}

// --- the cycle ----------------------------------------------------------------------------------

void SchedulingCycle::ScheduleOne(const PodRef& pod) {
  CycleResult result = Run(pod);
  if (result.code() == BERTH_SKIP) return parts_.failures.Skip(pod, result.failure->message);
  if (result.reservation == nullptr) {  // There is nothing to undo.
    return parts_.failures.Handle(pod->uid(), /*node=*/"", *result.failure);
  }
  EndFormerNomination(parts_.queue, result);
  if (result.failure.has_value()) {
    // Reserve or Permit rejected the node, or failed. On return, the destructor of the reservation
    // undoes everything and passes the failure to FailureHandler::Handle().
    result.reservation->SetFailure(*std::move(result.failure));
    return;
  }
  parts_.sink.OnAssumed(pod, result.node);
  BindingCycle& binding_cycle =
      parts_.waiting_pods.Add(std::move(result.reservation), result.waits);
  // PreBindPreFlight, wait on Permit if a plugin returned Wait, PreBind, Bind, PostBind.
  binding_cycle.Start();
}

// The stages of the scheduling cycle, in order. A stage that returns false ends the cycle and has
// set result.failure, which decides what happens to the pod (failure_handler.h):
//
//   skipped  The pod leaves the queue.
//   parked   The failure has a rejection: the pod waits in the queue for an event that the plugins
//            which rejected it are interested in. The host itself rejects pods too, under ids of
//            its own (host_rejectors.h).
//   error    The failure has no rejection: the pod backs off and is tried again.
//
// From "assume" on, the destructor of result.reservation undoes Reserve and the assumption
// (reservation.h).
CycleResult SchedulingCycle::RunStages(const PodRef& pod, Answers answers) {
  CycleResult result{.pod = pod};
  answers_ = answers;
  if (!CheckPod(result)) return result;  // Deleted: skipped. Unhandled field: parked.
  attempt_.Begin(pod, ++attempts_);
  if (!CheckNodes(result)) return result;  // The cluster has no node: parked until it has one.
  const int64_t since_ns = parts_.meter != nullptr ? parts_.meter->NowNs() : 0;
  // If PreFilter rejects the pod, no node is feasible.
  if (!PreFilter(result)) return result;  // A plugin failed: error.
  if (!Filter(result)) return result;     // A plugin failed: error.
  if (attempt_.feasible->size() == 0) {
    PostFilter(result);  // No node fits: parked. A plugin may nominate a node for the pod.
    return result;
  }
  if (!PreScore(result)) return result;  // A plugin failed: error.
  if (!Score(result)) return result;     // A plugin failed: error.
  Select(result);
  if (parts_.meter != nullptr) parts_.meter->OnSelected(since_ns);
  if (!Assume(result)) return result;   // The cache has the pod already: error.
  if (!Reserve(result)) return result;  // Rejected by a plugin: parked. A plugin failed: error.
  if (!Permit(result)) return result;   // Rejected by a plugin: parked. A plugin failed: error.
  return result;
}

CycleResult SchedulingCycle::Run(const PodRef& pod) {
  CycleResult result = RunStages(pod, Answers::kReused);
  if (parts_.meter != nullptr) attempt_.CountCalls();
  attempt_.End();
  return result;
}

CycleResult SchedulingCycle::Decide(const PodRef& pod) {
  attempt_.keeps_scores = true;
  CycleResult result = RunStages(pod, Answers::kFresh);
  attempt_.keeps_scores = false;
  RollBack(parts_.queue, result);
  return result;
}

void RollBack(SchedulingQueue& queue, CycleResult& result) {
  if (result.reservation != nullptr) {
    result.reservation->SetSilent();
    result.reservation.reset();
  }
  if (!result.former_nomination.empty()) {
    queue.nominator().Add(result.pod, result.former_nomination);
  }
}

void EndFormerNomination(SchedulingQueue& queue, const CycleResult& result) {
  const bool has_moved =
      !result.former_nomination.empty() && result.former_nomination != result.node;
  if (!has_moved) return;
  // The stage "assume" removed the nomination without an event. It is recorded again, so that
  // Nominate() finds it and requeues the pods that wait for the room.
  queue.nominator().Add(result.pod, result.former_nomination);
  queue.Nominate(result.pod, /*node=*/"");
}

// A row is the index of a node in the node table of the cache. The live rows are those that hold a
// node. attempt_.subset is the rows to which PreFilter restricts the pod: with no value there is no
// restriction; with no rows, because PreFilter named only unknown nodes, no node fits.

// --- checks of the host -------------------------------------------------------------------------

bool SchedulingCycle::CheckPod(CycleResult& result) const {
  const Pod& pod = *result.pod;
  if (pod.terminating()) {
    result.failure = {.code = BERTH_SKIP, .message = "skip schedule deleting pod: " + pod.Key()};
    return false;
  }
  const auto unhandled = fields_.Unhandled(pod.view());
  if (unhandled.empty()) return true;
  result.failure = {.code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
                    .message = HandledFields::Message(unhandled),
                    .rejection = {.plugins = {rejectors_.unhandled_field}}};
  return false;
}

bool SchedulingCycle::CheckNodes(CycleResult& result) const {
  if (attempt_.live_rows().size() > 0) return true;
  result.failure = {.code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
                    .message = "no nodes available to schedule pods",
                    .rejection = {.plugins = {rejectors_.no_nodes}}};
  return false;
}

// --- which nodes fit ----------------------------------------------------------------------------

bool SchedulingCycle::PreFilter(CycleResult& result) {
  PluginStatus status;
  Metered(attempt_.meter(), MeteredPoint::kPreFilter, [&] {
    status = RunPreFilter(attempt_);
    const auto& rejection = attempt_.pre_filter_rejection;
    return status.ok() && rejection.has_value() ? rejection->code : status.code;
  });
  if (!status.ok()) result.failure = ErrorFailure(status);
  return status.ok();
}

bool SchedulingCycle::Filter(CycleResult& result) {
  if (attempt_.pre_filter_rejection.has_value()) return true;  // PreFilter rejected all nodes.
  PluginStatus status;
  Metered(attempt_.meter(), MeteredPoint::kFilter, [&] { return (status = FilterNodes()).code; });
  if (!status.ok()) result.failure = ErrorFailure(status);
  return status.ok();
}

PluginStatus SchedulingCycle::FilterNodes() {
  // The node that the pod is nominated to is tried twice if a plugin fails for it.
  std::optional<FaultLimits> fault_limits;
  if (!attempt_.pod->nominated_node().empty()) fault_limits.emplace(attempt_, Point::kFilter);
  if (TryNominatedNode()) return {};
  if (attempt_.subset.has_value()) {
    attempt_.some_rows.AssignRows(attempt_.table(), *attempt_.subset);
    attempt_.candidates = &attempt_.some_rows;
  } else {
    attempt_.candidates = &attempt_.live_rows();
  }
  return FilterCandidates();
}

PluginStatus SchedulingCycle::FilterCandidates() {
  const Nominator& nominator = parts_.queue.nominator();
  return answers_ == Answers::kReused ? classes_.Filter(attempt_, nominator)
                                      : RunFilter(attempt_, nominator);
}

// Returns true if the node that the pod is nominated to fits; then no other node is considered. If
// a plugin fails here, the pass over all nodes decides. A node that PreFilter excluded is not
// tried. (kube-scheduler tries it, and relies on the filters to reject it.)
bool SchedulingCycle::TryNominatedNode() {
  const std::string_view nominated = attempt_.pod->nominated_node();
  if (nominated.empty()) return false;
  const Row row = attempt_.table().FindNode(nominated);
  if (row == kNoRow) return false;
  if (attempt_.subset.has_value() && !std::ranges::binary_search(*attempt_.subset, row)) {
    return false;
  }
  attempt_.some_rows.AssignRows(attempt_.table(), std::array{row});
  attempt_.candidates = &attempt_.some_rows;
  attempt_.nominated_only = FilterCandidates().ok() && attempt_.feasible->size() == 1;
  return attempt_.nominated_only;
}

// The pod is unschedulable now, whatever PostFilter returns. The reasons of PostFilter become part
// of the message.
void SchedulingCycle::PostFilter(CycleResult& result) {
  Failure failure{.code = BERTH_UNSCHEDULABLE, .rejection = RejectedBy(attempt_)};
  std::string reasons;
  if (!plan_.At(Point::kPostFilter).empty()) {
    PostFilterResult post_filter;
    Metered(attempt_.meter(), MeteredPoint::kPostFilter,
            [&] { return (post_filter = RunPostFilter(attempt_)).status.code; });
    if (parts_.meter != nullptr) parts_.meter->OnPostFilter();
    reasons = post_filter.status.Message();
    failure.overrides_nomination = post_filter.overrides;
    failure.nominated_node = std::move(post_filter.node);
  }
  failure.message = FitErrorMessage(attempt_, reasons);
  result.failure = std::move(failure);
}

// --- which node is best -------------------------------------------------------------------------

bool SchedulingCycle::NeedsScores() const {
  return attempt_.feasible->size() > 1 && !plan_.At(Point::kScore).empty();
}

bool SchedulingCycle::PreScore(CycleResult& result) {
  if (!NeedsScores()) return true;
  PluginStatus status;
  Metered(attempt_.meter(), MeteredPoint::kPreScore,
          [&] { return (status = RunPreScore(attempt_)).code; });
  if (!status.ok()) result.failure = ErrorFailure(status);
  return status.ok();
}

bool SchedulingCycle::Score(CycleResult& result) {
  if (!NeedsScores()) return true;
  PluginStatus status;
  Metered(attempt_.meter(), MeteredPoint::kScore, [&] { return (status = ScoreFeasible()).code; });
  if (!status.ok()) result.failure = ErrorFailure(status);
  return status.ok();
}

PluginStatus SchedulingCycle::ScoreFeasible() {
  return answers_ == Answers::kReused ? classes_.Score(attempt_) : RunScore(attempt_);
}

// Selects a random one of the best nodes. The nodes are counted in row order, so that the same seed
// selects the same node however the rows are split into blocks.
void SchedulingCycle::Select(CycleResult& result) {
  const Selection& feasible = *attempt_.feasible;
  const uint32_t count = feasible.size();
  if (count == 1) {
    result.row = feasible.At(0);
    return;
  }
  if (!attempt_.scored) {
    result.row = feasible.At(static_cast<uint32_t>(tie_breaker_.Below(count)));
    return;
  }
  if (const TotalsTree* const ranking = attempt_.ranking) {
    const uint64_t k = tie_breaker_.Below(ranking->best_count());
    result.row = ranking->BestRow(static_cast<uint32_t>(k));
    return;
  }
  const auto& totals = attempt_.totals;
  const int64_t best = *std::ranges::max_element(totals);
  auto k = tie_breaker_.Below(static_cast<uint64_t>(std::ranges::count(totals, best)));
  uint32_t i = 0;
  while (totals[i] != best || k-- > 0) ++i;
  result.row = feasible.At(i);
}

std::vector<Row> SchedulingCycle::BestRows() const {
  std::vector<Row> rows;
  const uint32_t count = attempt_.feasible->size();
  const auto& totals = attempt_.totals;
  BERTH_ASSERT_MSG(attempt_.ranking == nullptr, "the scores of this cycle were reused");
  const int64_t best = attempt_.scored ? *std::ranges::max_element(totals) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!attempt_.scored || totals[i] == best) rows.push_back(attempt_.feasible->At(i));
  }
  return rows;
}

// --- the place on the node ----------------------------------------------------------------------

// Assumes the pod: from now on the cache counts it on its node, so that the next cycle may begin
// before the pod is bound.
bool SchedulingCycle::Assume(CycleResult& result) {
  const PodRef& pod = result.pod;
  auto binding = std::make_unique<Binding>(plan_, pod, parts_.cache.table().node(result.row),
                                           attempt_.TakeState());
  auto reservation =
      Reservation::Create({parts_.cache, parts_.queue, parts_.router, parts_.failures, attempt_},
                          result.row, std::move(binding));
  if (!reservation.ok()) {
    result.failure = {.message = std::string(reservation.status().message())};
    return false;
  }
  result.reservation = std::move(reservation).value();
  result.node = result.reservation->node_name();
  // The reservation does not restore the nomination: the failure decides about it.
  result.former_nomination = parts_.queue.nominator().NodeOf(pod->uid());
  parts_.queue.nominator().Remove(pod->uid());
  return true;
}

bool SchedulingCycle::Reserve(CycleResult& result) {
  PluginStatus status;
  Metered(attempt_.meter(), MeteredPoint::kReserve,
          [&] { return (status = RunReserve(attempt_, result.row)).code; });
  if (status.ok()) return true;
  result.failure = OneNodeFailure(status);
  result.ended_at = Point::kReserve;
  return false;
}

bool SchedulingCycle::Permit(CycleResult& result) {
  PermitResult permit;
  Metered(attempt_.meter(), MeteredPoint::kPermit,
          [&] { return (permit = RunPermit(attempt_, result.row)).status.code; });
  result.waits = std::move(permit.waits);
  if (permit.status.ok() || permit.status.code == BERTH_WAIT) return true;
  result.failure = OneNodeFailure(permit.status);
  result.ended_at = Point::kPermit;
  return false;
}

}  // namespace berth::host
