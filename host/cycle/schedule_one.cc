#include "host/cycle/schedule_one.h"

#include <array>
#include <type_traits>
#include <utility>

#include "host/cycle/cycle_meter.h"
#include "host/cycle/failure_handler.h"
#include "host/cycle/slow_pod.h"
#include "host/runtime/attempt/point_meter.h"
#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_post_filter.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/points/run_reserve.h"
#include "host/runtime/points/run_score.h"

namespace berth::host {
namespace {

const PluginStatus& StatusOf(const PluginStatus& status) { return status; }
const PluginStatus& StatusOf(const Ranked& ranked) { return ranked.status(); }
const PluginStatus& StatusOf(const auto& result) { return result.status; }

// Returns the result of `run`, which runs the plugins of a point. Its duration is observed.
template <class F>
auto Observe(const Attempt& attempt, MeteredPoint point, F&& run) {
  std::invoke_result_t<F> result;
  Metered(attempt.meter(), point, [&] { return StatusOf(result = run()).code; });
  return result;
}

// Returns the failure if a plugin failed: the pod backs off. A rejection is no error.
std::optional<Failure> ErrorIn(const PluginStatus& status) {
  if (status.ok() || status.rejected()) return std::nullopt;
  return Failure{.message = status.Message()};
}

// Returns the failure if the result of PreFilter or PreScore ends the cycle: a plugin failed, or
// the pod must wait until the plugin activates it. Such a pod was not rejected, and so keeps the
// room that it is nominated to.
std::optional<Failure> EndIn(const PluginStatus& status, const Plan& plan) {
  if (status.code != BERTH_PENDING) return ErrorIn(status);
  return Failure{.code = BERTH_PENDING,
                 .message = AwaitedMessage(plan, status),
                 .rejection = {.awaited = {status.plugin.value()}},
                 .overrides_nomination = false};
}

// The failure for a result of Reserve or Permit, which is about the selected node alone. A
// rejection parks the pod until an event that the plugin registered for; after Pending, this event
// requeues the pod without backoff.
Failure OneNodeFailure(const PluginStatus& status) {
  if (!status.rejected()) return {.message = status.Message()};
  Failure failure{.code = status.code, .message = OneNodeFitError(status.reasons)};
  (status.code == BERTH_PENDING ? failure.rejection.pending
                                : failure.rejection.plugins) = {status.plugin.value()};
  return failure;
}

}  // namespace

SchedulingCycle::SchedulingCycle(const Plan& plan, const CycleContext& context,
                                 const HandledFields& fields, const HostRejectors& rejectors,
                                 uint64_t seed, uint64_t& attempts)
    : plan_(plan),
      context_(context),
      fields_(fields),
      rejectors_(rejectors),
      attempt_(plan, context.cache.table()),
      reused_(context.reuse),
      tie_breaker_(seed),
      attempts_(attempts) {
  if (context.meter != nullptr) attempt_.SetMeter(&context.meter->PointsOf(plan.scheduler_name()));
}

// --- the cycle ----------------------------------------------------------------------------------

void SchedulingCycle::ScheduleOne(const PodRef& pod) {
  CycleResult result = Run(pod);
  if (result.code() == BERTH_SKIP) return context_.failures.Skip(pod, result.failure->message);
  if (result.reservation == nullptr) {  // There is nothing to undo.
    return context_.failures.Handle(pod->uid(), /*node=*/"", *result.failure);
  }
  EndFormerNomination(context_.queue, result);
  if (result.failure.has_value()) {
    // Reserve or Permit rejected the node, or failed. On return, the destructor of the reservation
    // undoes everything and passes the failure to FailureHandler::Handle().
    result.reservation->SetFailure(*std::move(result.failure));
    return;
  }
  context_.sink.OnAssumed(pod, result.node);
  BindingCycle& binding_cycle =
      context_.waiting_pods.Add(std::move(result.reservation), result.waits);
  // PreBindPreFlight, wait on Permit if a plugin returned Wait, PreBind, Bind, PostBind.
  binding_cycle.Start();
}

// The stages of the scheduling cycle, in order. The first failure ends the cycle, and decides what
// happens to the pod (failure_handler.h):
//
//   skipped  The pod leaves the queue.
//   parked   The failure has a rejection: the pod waits in the queue for an event that the plugins
//            which rejected it are interested in, or until a plugin activates it that returned
//            Pending in PreFilter or PreScore. The host itself rejects pods too, under ids of
//            its own (handled_fields.h).
//   error    The failure has no rejection: the pod backs off and is tried again.
//
// From "assume" on, the destructor of result.reservation undoes Reserve and the assumption
// (binding_cycle.h).
CycleResult SchedulingCycle::RunStages(const PodRef& pod, Evaluation& evaluation) {
  CycleResult result{.pod = pod};
  std::optional<Failure>& failure = result.failure;
  auto& [pre_filter, filtered, ranked] = findings_ = {};
  if ((failure = CheckPod(*pod))) return result;  // Deleted: skipped. Unhandled field: parked.
  attempt_.Begin(pod, ++attempts_);
  if ((failure = CheckNodes())) return result;  // The cluster has no node: parked until it has one.
  const int64_t since_ns = context_.meter != nullptr ? context_.meter->NowNs() : 0;
  pre_filter = PreFilter();  // If it rejects the pod, no node is feasible.
  // A plugin waits for an answer: parked until it activates the pod. It failed: error.
  if ((failure = EndIn(pre_filter.status, plan_))) return result;
  filtered = Filter(evaluation);
  if ((failure = ErrorIn(filtered.status))) return result;  // A plugin failed: error.
  if (filtered.feasible->size() == 0) {
    failure = PostFilter();  // No node fits: parked. A plugin may nominate a node for the pod.
    return result;
  }
  if ((failure = EndIn(PreScore(), plan_))) return result;  // As for PreFilter.
  ranked = Score(evaluation);
  if ((failure = ErrorIn(ranked.status()))) return result;  // A plugin failed: error.
  result.row = Select();
  if (context_.meter != nullptr) context_.meter->OnSelected(since_ns);
  if ((failure = Assume(result))) return result;   // The cache has the pod already: error.
  if ((failure = Reserve(result))) return result;  // A plugin rejects: parked, or fails: error.
  if ((failure = Permit(result))) return result;   // A plugin rejects: parked, or fails: error.
  return result;
}

CycleResult SchedulingCycle::Run(const PodRef& pod) {
  CycleResult result = RunStages(pod, reused_);
  if (result.failure.has_value()) NoteLateCall(*pod, *result.failure);
  attempt_.End();
  return result;
}

void SchedulingCycle::NoteLateCall(const Pod& pod, Failure& failure) const {
  if (attempt_.pod().get() != &pod) return;  // The cycle ended before the attempt began.
  const auto late = attempt_.FirstLateCall();
  if (!late.has_value()) return;
  failure.is_slow = true;
  // It stands first, because a long message is cut off.
  failure.message = SlowPodMessage(*late, pod.view()) + "; " + failure.message;
}

CycleResult SchedulingCycle::Decide(const PodRef& pod) {
  CycleResult result = RunStages(pod, fresh_);
  RollBack(context_.queue, result);
  attempt_.End();
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

// --- checks of the host -------------------------------------------------------------------------

std::optional<Failure> SchedulingCycle::CheckPod(const Pod& pod) const {
  if (pod.terminating()) {
    return Failure{.code = BERTH_SKIP, .message = "skip schedule deleting pod: " + pod.Key()};
  }
  const auto unhandled = fields_.Unhandled(pod.view());
  if (unhandled.empty()) return std::nullopt;
  return Failure{.code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
                 .message = HandledFields::Message(unhandled),
                 .rejection = {.plugins = {rejectors_.unhandled_field}}};
}

std::optional<Failure> SchedulingCycle::CheckNodes() const {
  if (attempt_.live_rows().size() > 0) return std::nullopt;
  return Failure{.code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE,
                 .message = "no nodes available to schedule pods",
                 .rejection = {.plugins = {rejectors_.no_nodes}}};
}

// --- which nodes fit ----------------------------------------------------------------------------

PreFilterResult SchedulingCycle::PreFilter() {
  return Observe(attempt_, MeteredPoint::kPreFilter, [this] { return RunPreFilter(attempt_); });
}

Filtered SchedulingCycle::Filter(Evaluation& evaluation) {
  if (findings_.pre_filter.status.rejected()) return {};
  return Observe(attempt_, MeteredPoint::kFilter, [&] { return FilterNodes(evaluation); });
}

// If the node that the pod is nominated to fits, no other node is considered. If a plugin fails for
// it, the pass over all nodes decides. A node that PreFilter excluded is not tried. (kube-scheduler
// tries it, and relies on the filters to reject it.)
Filtered SchedulingCycle::FilterNodes(Evaluation& evaluation) {
  const Nominator& nominator = context_.queue.nominator();
  const PreFilterResult& pre_filter = findings_.pre_filter;
  // The nominated node is tried twice if a plugin fails for it, which is one fault.
  std::optional<FilterFaultLimits> fault_limits;
  if (const std::string_view nominated = attempt_.pod()->nominated_node(); !nominated.empty()) {
    fault_limits.emplace(attempt_);
    const Row row = attempt_.table().FindNode(nominated);
    if (row != kNoRow && pre_filter.Includes(row)) {
      Selection node;
      node.AssignRows(attempt_.table(), std::array{row});
      Filtered filtered = evaluation.Filter(attempt_, node, nominator);
      filtered.nominated_only = filtered.status.ok() && filtered.feasible->size() == 1;
      if (filtered.nominated_only) return filtered;
    }
  }
  const auto& subset = pre_filter.subset;
  return evaluation.Filter(attempt_, subset.has_value() ? *subset : attempt_.live_rows(),
                           nominator);
}

// The pod is unschedulable now, whatever PostFilter returns. The reasons of PostFilter become part
// of the message.
Failure SchedulingCycle::PostFilter() {
  Failure failure{.code = BERTH_UNSCHEDULABLE, .rejection = RejectedBy(plan_, findings_)};
  std::string reasons;
  if (!plan_.At(Point::kPostFilter).empty()) {
    PostFilterResult post_filter = Observe(attempt_, MeteredPoint::kPostFilter, [this] {
      return RunPostFilter(attempt_, findings_.pre_filter, findings_.filtered);
    });
    if (context_.meter != nullptr) context_.meter->OnPostFilter();
    reasons = post_filter.status.Message();
    failure.overrides_nomination = post_filter.overrides;
    failure.nominated_node = std::move(post_filter.node);
  }
  failure.message = FitErrorMessage(attempt_, findings_, reasons);
  return failure;
}

// --- which node is best -------------------------------------------------------------------------

bool SchedulingCycle::NeedsScores() const {
  return findings_.filtered.feasible->size() > 1 && !plan_.At(Point::kScore).empty();
}

PluginStatus SchedulingCycle::PreScore() {
  if (!NeedsScores()) return {};
  return Observe(attempt_, MeteredPoint::kPreScore,
                 [this] { return RunPreScore(attempt_, *findings_.filtered.feasible); });
}

Ranked SchedulingCycle::Score(Evaluation& evaluation) {
  if (!NeedsScores()) return Ranked(*findings_.filtered.feasible);
  return Observe(attempt_, MeteredPoint::kScore,
                 [&] { return evaluation.Score(attempt_, findings_.filtered); });
}

// Selects a random one of the best nodes. The nodes are counted in row order, so that the same seed
// selects the same node however the rows are split into blocks.
Row SchedulingCycle::Select() {
  const Ranked& ranked = findings_.ranked;
  const bool has_choice = findings_.filtered.feasible->size() > 1;
  const uint64_t k = has_choice ? tie_breaker_.Below(ranked.best_count()) : 0;
  return ranked.BestRow(static_cast<uint32_t>(k));
}

// --- the place on the node ----------------------------------------------------------------------

// Assumes the pod: from now on the cache counts it on its node, so that the next cycle may begin
// before the pod is bound.
std::optional<Failure> SchedulingCycle::Assume(CycleResult& result) {
  const PodRef& pod = result.pod;
  auto binding = std::make_unique<Binding>(plan_, pod, context_.cache.table().node(result.row),
                                           attempt_.TakeState());
  auto reservation = Reservation::Create(context_, attempt_, result.row, std::move(binding));
  if (!reservation.ok()) return Failure{.message = std::string(reservation.status().message())};
  result.reservation = std::move(reservation).value();
  result.node = result.reservation->node_name();
  // The reservation does not restore the nomination: the failure decides about it.
  result.former_nomination = context_.queue.nominator().NodeOf(pod->uid());
  context_.queue.nominator().Remove(pod->uid());
  return std::nullopt;
}

std::optional<Failure> SchedulingCycle::Reserve(CycleResult& result) {
  const PluginStatus status =
      Observe(attempt_, MeteredPoint::kReserve, [&] { return RunReserve(attempt_, result.row); });
  if (status.ok()) return std::nullopt;
  result.ended_at = Point::kReserve;
  return OneNodeFailure(status);
}

std::optional<Failure> SchedulingCycle::Permit(CycleResult& result) {
  PermitResult permit =
      Observe(attempt_, MeteredPoint::kPermit, [&] { return RunPermit(attempt_, result.row); });
  result.waits = std::move(permit.waits);
  if (permit.status.ok() || permit.status.code == BERTH_WAIT) return std::nullopt;
  result.ended_at = Point::kPermit;
  return OneNodeFailure(permit.status);
}

}  // namespace berth::host
