#include "host/runtime/attempt/attempt.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"
#include "host/runtime/attempt/point_meter.h"

namespace berth::host {
namespace {

// Approximately the number of concurrent bindings in a cluster under high load.
constexpr size_t kSpareStates = 64;

}  // namespace

Attempt::Attempt(const Plan& plan, NodeTable& table) : plan_(plan), table_(table) {
  for (const PlannedPlugin& plugin : plan.plugins()) {
    cycles_.push_back(std::make_unique<PluginCycle>(plugin, table, this));
    monitor_ = plugin.host->context().monitor;
  }
}

Attempt::~Attempt() {
  if (monitor_ != nullptr) monitor_->EndAttempt(&cancel_);
}

void Attempt::Begin(PodRef pod, uint64_t id) {
  pod_ = std::move(pod);
  allows_what_if_ = true;
  RefreshLiveRows();
  if (monitor_ != nullptr) monitor_->BeginAttempt(&cancel_, &pod_->view());
  BeginState();
  for (uint32_t i = 0; i < cycles_.size(); ++i) {
    cycles_[i]->Begin(id, pod_->view(), &cancel_, state_->of(i));
    cycles_[i]->SetCallMeter(PointMeter::IsSampled(id) ? meter_ : nullptr);
  }
}

void Attempt::CountCalls() {
  for (const auto& cycle : cycles_) {
    const PlannedPlugin& plugin = cycle->plugin();
    const uint32_t called = cycle->TakeCalled();
    if (meter_ != nullptr) meter_->CountCalls(plugin.id, plugin.name, called);
    if (plugin.host->faults() != nullptr) plugin.host->faults()->CountServed(called);
  }
}

void Attempt::BeginState() {
  Recycle(std::move(state_));
  if (spare_states_.empty()) {
    state_ = std::make_unique<CycleState>(plan_);
  } else {
    state_ = std::move(spare_states_.back());
    spare_states_.pop_back();
  }
  state_->Construct();
}

void Attempt::End() {
  CountCalls();
  if (monitor_ != nullptr) monitor_->EndAttempt(&cancel_);
  Recycle(std::move(state_));
}

std::unique_ptr<CycleState> Attempt::TakeState() {
  BERTH_ASSERT(state_ != nullptr);
  return std::move(state_);
}

const CycleState& Attempt::state() const {
  BERTH_ASSERT(state_ != nullptr);
  return *state_;
}

void Attempt::Recycle(std::unique_ptr<CycleState> state) {
  if (state == nullptr) return;
  state->Destroy();
  if (spare_states_.size() < kSpareStates) spare_states_.push_back(std::move(state));
}

void Attempt::RefreshLiveRows() {
  if (live_generation_ == table_.node_set_generation()) return;
  live_rows_.AssignLive(table_);
  live_generation_ = table_.node_set_generation();
}

struct Binding::Call {
  uint32_t plugin;
  BindingCall kind;
  uint32_t cancel = 0;
  berth_binding abi{};
};

struct Binding::Body {
  PodRef pod;
  NodeRef node;
  std::vector<Call> calls;  // The elements never move in memory.
  std::unique_ptr<CycleState> state;

  Call* Find(uint32_t plugin, BindingCall kind) {
    const auto found = std::ranges::find_if(calls, [plugin, kind](const Call& call) {
      return call.plugin == plugin && call.kind == kind;
    });
    return found != calls.end() ? &*found : nullptr;
  }
  Call& At(uint32_t plugin, BindingCall kind) {
    Call* call = Find(plugin, kind);
    BERTH_ASSERT(call != nullptr);
    return *call;
  }
  // Does nothing if the call was added before.
  void Add(uint32_t plugin, BindingCall kind) {
    if (Find(plugin, kind) != nullptr) return;
    Call& call = calls.emplace_back(Call{.plugin = plugin, .kind = kind});
    const berth_meta& meta = *node->view().meta;
    call.abi = {.struct_size = sizeof(berth_binding),
                .flags = 0,
                .pod = &pod->view(),
                .node_name = meta.name,
                .node_uid = meta.uid,
                .slots = state->of(plugin).data(),
                .cancel = &call.cancel,
                .call_deadline_ns = 0,
                .completion_deadline_ns = 0};
  }
};

Binding::Binding(const Plan& plan, PodRef pod, NodeRef node, std::unique_ptr<CycleState> state)
    : plan_(plan), body_(std::make_shared<Body>()) {
  BERTH_ASSERT(state != nullptr);
  body_->pod = std::move(pod);
  body_->node = std::move(node);
  body_->state = std::move(state);
  body_->calls.reserve(2 * plan.At(Point::kPreBind).size() + plan.At(Point::kBind).size() +
                       plan.At(Point::kReserve).size() + plan.At(Point::kPostBind).size());
  for (const PlannedUse& use : plan.At(Point::kPreBind)) {
    body_->Add(use.plugin, BindingCall::kPreFlight);
    body_->Add(use.plugin, BindingCall::kPreBind);
  }
  for (const PlannedUse& use : plan.At(Point::kBind)) body_->Add(use.plugin, BindingCall::kBind);
  for (const Point point : {Point::kReserve, Point::kPostBind}) {
    for (const PlannedUse& use : plan.At(point)) body_->Add(use.plugin, BindingCall::kEnd);
  }
}

Binding::~Binding() = default;

const PodRef& Binding::pod() const { return body_->pod; }
const NodeRef& Binding::node() const { return body_->node; }
berth_binding* Binding::AbiFor(uint32_t plugin, BindingCall call) const {
  return &body_->At(plugin, call).abi;
}

void Binding::Cancel() {
  cancelled_ = true;
  for (Call& call : body_->calls) {
    if (call.kind != BindingCall::kEnd) __atomic_store_n(&call.cancel, 1U, __ATOMIC_RELAXED);
  }
}

void Binding::CancelCall(uint32_t plugin, BindingCall call) {
  __atomic_store_n(CancelWordOf(plugin, call), 1U, __ATOMIC_RELAXED);
}

uint32_t* Binding::CancelWordOf(uint32_t plugin, BindingCall call) {
  BERTH_ASSERT(call != BindingCall::kEnd);
  return &body_->At(plugin, call).cancel;
}

std::shared_ptr<const void> Binding::Keep() const { return body_; }

std::unique_ptr<CycleState> Binding::TakeState() {
  if (body_.use_count() != 1) return nullptr;
  return std::move(body_->state);
}

}  // namespace berth::host
