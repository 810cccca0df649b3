#include "host/cycle/binding_cycle.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/assert.h"
#include "host/base/time.h"
#include "host/cycle/fit_error.h"
#include "host/runtime/attempt/point_meter.h"
#include "host/runtime/points/run_post_bind.h"
#include "host/runtime/points/run_reserve.h"

namespace berth::host {

// --- reservation ---------------------------------------------------------------------------------

Result<std::unique_ptr<Reservation>> Reservation::Create(const CycleContext& context,
                                                         Attempt& attempt, Row row,
                                                         std::unique_ptr<Binding> binding) {
  const PodRef& pod = binding->pod();
  PodRef placed = WithNode(pod, binding->node()->view().name, pod->resource_version());
  if (Status status = context.cache.AssumePod(placed, row); !status.ok()) return status;
  return std::unique_ptr<Reservation>(
      new Reservation(context, attempt, std::move(placed), std::move(binding)));
}

Reservation::Reservation(const CycleContext& context, Attempt& attempt, PodRef placed,
                         std::unique_ptr<Binding> binding)
    : context_(context),
      attempt_(attempt),
      placed_(std::move(placed)),
      binding_(std::move(binding)) {}

void Reservation::SetFailure(Failure failure) {
  if (!failure_.has_value()) failure_ = std::move(failure);
}

// A pod that the cluster has confirmed on a node stays in the cache: it is bound, even if the
// answer to the binding was an error.
bool Reservation::Forget() {
  return context_.cache.IsAssumed(placed_->uid()) && context_.cache.ForgetPod(placed_->uid()).ok();
}

bool Reservation::IsConfirmedHere() const {
  const PodRef there = context_.cache.PodOf(placed_->uid());
  return there != nullptr && !context_.cache.IsAssumed(placed_->uid()) &&
         there->view().node_name == placed_->view().node_name;
}

void Reservation::ReleasePlace() {
  if (Forget()) context_.router.OnAssumedPodForgotten(placed_);
}

Reservation::~Reservation() {
  if (!committed_) Undo();
  attempt_.Recycle(binding_->TakeState());
}

void Reservation::Undo() {
  Metered(attempt_.meter(), MeteredPoint::kUnreserve, [this] {
    RunUnreserve(*binding_);
    return berth_code{BERTH_SUCCESS};
  });
  Forget();
  if (is_silent_) return;
  if (failure_.has_value()) {
    context_.failures.Handle(placed_->uid(), node_name(), *failure_);
  } else {
    context_.queue.Return(placed_->uid(), {});
  }
  if (announces_release_ && !IsConfirmedHere()) context_.router.OnAssumedPodForgotten(placed_);
}

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

// --- waiting pods --------------------------------------------------------------------------------

WaitingPods::WaitingPods(const CycleContext& context)
    : context_(context), on_finished_([this](const BindingCycle& ended) {
        finished_.emplace_back(ended.pod()->uid());
      }) {}

BindingCycle& WaitingPods::Add(std::unique_ptr<Reservation> reservation,
                               std::span<const PermitWait> waits) {
  std::string uid(reservation->pod()->uid());
  const auto [place, is_new] = bindings_.emplace(
      std::move(uid),
      std::make_unique<BindingCycle>(context_, on_finished_, std::move(reservation), waits));
  BERTH_ASSERT(is_new);
  return *place->second;
}

void WaitingPods::RollBack(std::string_view uid) {
  const auto found = bindings_.find(uid);
  BERTH_ASSERT(found != bindings_.end());
  const auto removed = bindings_.extract(found);
  removed.mapped()->SetSilent();
}

BindingCycle* WaitingPods::Find(std::string_view uid) const {
  const auto found = bindings_.find(uid);
  return found != bindings_.end() ? found->second.get() : nullptr;
}

std::vector<PodRef> WaitingPods::Waiting(PluginId plugin) const {
  std::vector<PodRef> waiting;
  for (const auto& [uid, binding] : bindings_) {
    if (binding->WaitsFor(plugin)) waiting.push_back(binding->pod());
  }
  return waiting;
}

bool WaitingPods::Uses(const Plan& plan) const {
  return std::ranges::any_of(
      bindings_, [&plan](const auto& binding) { return &binding.second->plan() == &plan; });
}

std::unique_ptr<BindingCycle> WaitingPods::TakeFinished() {
  if (finished_.empty()) return nullptr;
  auto ended = bindings_.extract(finished_.back());
  finished_.pop_back();
  BERTH_ASSERT(!ended.empty());
  return std::move(ended.mapped());
}

void WaitingPods::Stop() {
  for (const auto& [uid, binding] : bindings_) binding->Stop();
}

void WaitingPods::Cancel() {
  for (const auto& [uid, binding] : bindings_) binding->Cancel();
}

void WaitingPods::Clear() {
  while (!bindings_.empty()) bindings_.extract(bindings_.begin());
  finished_.clear();
}

}  // namespace berth::host
