#include "host/runtime/attempt.h"

#include <utility>

namespace berth::host {

Attempt::Attempt(const Plan& plan, NodeTable& table)
    : candidates(&some_rows), plan_(plan), table_(table) {
  for (const PlannedPlugin& plugin : plan.plugins()) {
    cycles_.push_back(std::make_unique<PluginCycle>(plugin, table));
  }
}

void Attempt::Begin(PodRef attempt_pod, uint64_t id) {
  pod = std::move(attempt_pod);
  subset_plugins.clear();
  subset.reset();
  subset_unknown.clear();
  pre_filter_rejection.reset();
  some_rows.Clear();
  candidates = &some_rows;
  feasible.Clear();
  nominated_only = false;
  scored = false;
  score_count = 0;
  totals.clear();
  verdicts.resize(table_.row_count());
  RefreshLiveRows();
  for (const auto& cycle : cycles_) cycle->Begin(id, pod->view(), &cancel_);
}

void Attempt::End() {
  for (const auto& cycle : cycles_) cycle->End();
}

void Attempt::RefreshLiveRows() {
  if (live_shape_ == table_.shape()) return;
  live_rows_.AssignLive(table_);
  live_shape_ = table_.shape();
}

}  // namespace berth::host
