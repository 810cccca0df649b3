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

Attempt::Attempt(const Plan& plan, NodeTable& table)
    : candidates(&some_rows), feasible(&own_feasible), plan_(plan), table_(table) {
  for (const PlannedPlugin& plugin : plan.plugins()) {
    cycles_.push_back(std::make_unique<PluginCycle>(plugin, table, this));
    monitor_ = plugin.host->context().monitor;
  }
}

Attempt::~Attempt() {
  if (monitor_ != nullptr) monitor_->EndAttempt(&cancel_);
}

void Attempt::Begin(PodRef attempt_pod, uint64_t id) {
  pod = std::move(attempt_pod);
  subset_plugins.clear();
  subset.reset();
  subset_unknown.clear();
  pre_filter_rejection.reset();
  some_rows.Clear();
  candidates = &some_rows;
  own_feasible.Clear();
  feasible = &own_feasible;
  nominated_only = false;
  scored = false;
  score_count = 0;
  totals.clear();
  ranking = nullptr;
  verdicts.resize(table_.row_count());
  RefreshLiveRows();
  if (monitor_ != nullptr) monitor_->BeginAttempt(&cancel_, &pod->view());
  BeginState();
  for (uint32_t i = 0; i < cycles_.size(); ++i) {
    cycles_[i]->Begin(id, pod->view(), &cancel_, state_->of(i));
    cycles_[i]->SetCallMeter(PointMeter::IsSampled(id) ? meter_ : nullptr);
  }
}

void Attempt::CountCalls() {
  for (const auto& cycle : cycles_) {
    meter_->CountCalls(cycle->plugin().id, cycle->plugin().name, cycle->TakeCalled());
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

std::vector<std::string> Attempt::SubsetPluginNames() const {
  std::vector<std::string> names;
  for (const uint32_t plugin : subset_plugins) names.push_back(plan_.plugins()[plugin].name);
  std::ranges::sort(names);
  return names;
}

void Attempt::RefreshLiveRows() {
  if (live_generation_ == table_.node_set_generation()) return;
  live_rows_.AssignLive(table_);
  live_generation_ = table_.node_set_generation();
}

}  // namespace berth::host
