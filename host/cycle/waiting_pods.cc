#include "host/cycle/waiting_pods.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

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
