#include "host/cycle/binding_cycle.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/time.h"
#include "host/cycle/fit_error.h"
#include "host/cycle/pod_events.h"
#include "host/runtime/points/run_post_bind.h"

namespace berth::host {
namespace {

Failure ErrorFailure(std::string message) {
  return {.code = BERTH_ERROR, .message = std::move(message)};
}

Failure RejectionFor(std::optional<PluginId> plugin, std::string_view reason) {
  Failure failure;
  failure.code = BERTH_UNSCHEDULABLE;
  failure.message = OneNodeFitError(std::array{std::string(reason)});
  if (plugin.has_value()) failure.rejection.plugins = {*plugin};
  return failure;
}

}  // namespace

BindingCycle::BindingCycle(const CycleContext& context, const FinishedCallback& on_finished,
                           std::unique_ptr<Reservation> reservation,
                           std::span<const PermitWait> waits)
    : context_(context), on_finished_(on_finished), reservation_(std::move(reservation)) {
  for (const PermitWait& wait : waits) {
    const PlannedPlugin& plugin = plan().plugins()[wait.plugin];
    waits_.push_back({plugin.id, plugin.name, wait.timeout_ns});
  }
}

BindingCycle::~BindingCycle() { CancelTimers(); }

void BindingCycle::Start() {
  reservation_->AnnounceRelease();
  if (rejection() != nullptr) return ApplyVerdict();
  const bool has_to_wait = !waits_.empty();
  since_ns_ = Now();
  PreFlightResult flight = RunPreBindPreFlight(reservation_->binding());
  Observe(MeteredPoint::kPreBindPreFlight, flight.status.code);
  if (!flight.status.ok() && flight.status.code != BERTH_SKIP) return FailWith(flight.status);
  skipped_ = std::move(flight.skipped);
  if (flight.status.ok() || has_to_wait) NominateForExpectation();
  if (!has_to_wait) return RunPreBind();
  StartTimers();
}

// A binding that takes long is shown in the pod's status, so that other components count with it
// and a scheduler that takes over continues with the same node. A failure of the patch has no
// effect. (KEP-5278, NominatedNodeNameForExpectation)
void BindingCycle::NominateForExpectation() {
  if (pod()->nominated_node() == node_name()) return;
  PodStatusPatch patch;
  patch.nominated_node = node_name();
  context_.writer.PatchPodStatus(NameOf(*pod()), patch, nullptr);
}

// --- Permit -------------------------------------------------------------------------------------

void BindingCycle::StartTimers() {
  const int64_t now = context_.clock.NowNs();
  waiting_since_ns_ = now;
  for (Wait& wait : waits_) {
    wait.timer = context_.timers.Start(
        now + wait.timeout_ns,
        [this, plugin = wait.plugin,
         reason = "rejected due to timeout after waiting " + FormatDuration(wait.timeout_ns) +
                  " at plugin " + wait.name] { RejectNow(plugin, reason); });
  }
}

void BindingCycle::CancelTimers() {
  for (const Wait& wait : waits_) context_.timers.Cancel(wait.timer);
  waits_.clear();
}

bool BindingCycle::WaitsFor(PluginId plugin) const {
  return is_waiting() && std::ranges::find(waits_, plugin, &Wait::plugin) != waits_.end();
}

void BindingCycle::Allow(PluginId plugin) {
  if (!is_waiting()) return;
  const auto wait = std::ranges::find(waits_, plugin, &Wait::plugin);
  if (wait == waits_.end()) return;
  context_.timers.Cancel(wait->timer);
  waits_.erase(wait);
  if (waits_.empty()) verdict_.emplace();
}

void BindingCycle::Reject(PluginId plugin, std::string_view reason) {
  if (!is_waiting()) return;
  CancelTimers();
  verdict_ = PermitVerdict{RejectionFor(plugin, reason)};
}

void BindingCycle::ApplyVerdict() {
  if (state_ != State::kWaiting || !verdict_.has_value()) return;
  CancelTimers();
  ObserveWait(verdict_->rejection.has_value() ? verdict_->rejection->code : BERTH_SUCCESS);
  if (verdict_->rejection.has_value()) return Fail(*std::move(verdict_->rejection));
  RunPreBind();
}

void BindingCycle::RejectNow(std::optional<PluginId> plugin, std::string_view reason) {
  if (state_ != State::kWaiting) return;
  CancelTimers();
  ObserveWait(BERTH_UNSCHEDULABLE);
  Fail(RejectionFor(plugin, reason));
}

// --- PreBind and Bind ---------------------------------------------------------------------------

void BindingCycle::RunPreBind() {
  context_.queue.StopRecording(pod()->uid());
  state_ = State::kPreBind;
  since_ns_ = Now();
  pre_bind_ =
      std::make_unique<PreBindRun>(reservation_->binding(), context_.calls, skipped_,
                                   [this](const PluginStatus& status) { OnPreBindDone(status); });
  pre_bind_->Start();
}

void BindingCycle::OnPreBindDone(const PluginStatus& status) {
  Observe(MeteredPoint::kPreBind, status.code);
  if (preempted_.has_value()) return Fail(ErrorFailure(*preempted_));
  if (!status.ok()) return FailWith(status);
  state_ = State::kBind;
  since_ns_ = Now();
  bind_ = std::make_unique<BindRun>(reservation_->binding(), context_.calls,
                                    [this](const PluginStatus& answer) { OnBindDone(answer); });
  bind_->Start();
}

void BindingCycle::OnBindDone(const PluginStatus& status) {
  Observe(MeteredPoint::kBind, status.code);
  if (!status.ok()) return FailWith(status);
  reservation_->Commit();
  const PodRef& bound = pod();
  if (context_.meter != nullptr) {
    if (const QueuedEntity* entity = context_.queue.Find(bound->uid()))
      context_.meter->OnBound(*entity);
  }
  context_.queue.Done(bound->uid());
  context_.sink.OnBound(bound, node_name());
  context_.writer.CreateEvent(ScheduledEvent(*bound, node_name(), context_.clock.NowNs()), nullptr);
  since_ns_ = Now();
  RunPostBind(reservation_->binding());
  Observe(MeteredPoint::kPostBind, BERTH_SUCCESS);
  Finish();
}

// --- metrics ------------------------------------------------------------------------------------

void BindingCycle::Observe(MeteredPoint point, berth_code code) {
  if (context_.meter == nullptr) return;
  context_.meter->PointsOf(plan().scheduler_name()).ObservePoint(point, code, since_ns_);
}

void BindingCycle::ObserveWait(berth_code code) {
  const int64_t since_ns = std::exchange(waiting_since_ns_, 0);
  if (context_.meter != nullptr && since_ns != 0) context_.meter->OnPermitEnded(code, since_ns);
}

// --- the end ------------------------------------------------------------------------------------

// A rejection this late is not about nodes: the pod is not parked for the events of a plugin, but
// retried as after an error.
void BindingCycle::FailWith(const PluginStatus& status) {
  Failure failure = ErrorFailure(status.Message());
  if (status.rejected()) failure.code = status.code;
  Fail(std::move(failure));
}

void BindingCycle::Fail(Failure failure) {
  reservation_->SetFailure(std::move(failure));
  Finish();
}

void BindingCycle::Finish() {
  state_ = State::kFinished;
  on_finished_(*this);
}

void BindingCycle::OnPodDeleted() {
  if (state_ == State::kWaiting) return RejectNow(std::nullopt, "removed");
  reservation_->ReleasePlace();
}

void BindingCycle::OnPodBound() {
  if (state_ == State::kWaiting) RejectNow(std::nullopt, "bound by another client");
}

bool BindingCycle::Preempt(std::string_view reason) {
  if (state_ == State::kWaiting) {
    CancelTimers();
    ObserveWait(BERTH_ERROR);
    Fail(ErrorFailure(std::string(reason)));
    return true;
  }
  if (state_ == State::kFinished) return !reservation_->committed();
  if (state_ != State::kPreBind) return false;
  preempted_ = reason;
  reservation_->binding().Cancel();
  return true;
}

void BindingCycle::Stop() {
  if (state_ != State::kWaiting) return;
  CancelTimers();
  Finish();
}

}  // namespace berth::host
