#include "host/runtime/points/fresh_evaluation.h"

#include <span>
#include <utility>

#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/points/what_if.h"

namespace berth::host {
namespace {

// Consecutive Filters that are called block by block, after a whole Filter.
struct FilterStage {
  uint32_t whole = kNoPlugin;  // Called first; kNoPlugin in the first stage.
  std::vector<uint32_t> in_blocks = {};
};

// Returns the Filters of this attempt in the order of their calls. At least one stage.
std::vector<FilterStage> StagesOf(const Attempt& attempt) {
  std::vector<FilterStage> stages(1);
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    if (cycle.skip_filter) continue;
    if (FiltersWhole(cycle.plugin())) {
      stages.push_back({.whole = use.plugin});
    } else {
      stages.back().in_blocks.push_back(use.plugin);
    }
  }
  return stages;
}

}  // namespace

Filtered FreshEvaluation::Filter(Attempt& attempt, const Selection& candidates,
                                 const Nominator& nominator) {
  feasible_.Clear();
  rejected_.clear();
  PluginStatus status = CheckFilters(attempt);
  if (status.ok()) status = FilterRows(attempt, candidates, nominator);
  return {.status = std::move(status), .feasible = &feasible_, .rejected = rejected_};
}

PluginStatus FreshEvaluation::FilterRows(Attempt& attempt, const Selection& candidates,
                                         const Nominator& nominator) {
  PluginStatus status = FilterNominated(attempt, candidates, nominator, rejected_);
  if (!status.ok()) return status;
  const std::vector<RejectedRow> nominated = rejected_;
  const std::vector<FilterStage> stages = StagesOf(attempt);
  FilterPass pass(attempt, rejected_);
  status = pass.RunInBlocks(stages.front().in_blocks, candidates, nominated, feasible_);
  for (size_t i = 1; i < stages.size() && status.ok() && feasible_.size() > 0; ++i) {
    const Selection survivors = std::exchange(feasible_, {});
    status = pass.RunWhole(stages[i].whole, survivors, feasible_);
    if (!status.ok() || stages[i].in_blocks.empty()) continue;
    const Selection left = std::exchange(feasible_, {});
    status = pass.RunInBlocks(stages[i].in_blocks, left, {}, feasible_);
  }
  return status;
}

Ranked FreshEvaluation::Score(Attempt& attempt, const Filtered& filtered) {
  const Selection& feasible = *filtered.feasible;
  totals_.assign(feasible.size(), 0);
  size_t used = 0;
  for (const PlannedUse& use : attempt.plan().At(Point::kScore)) {
    if (!IsScored(attempt, use)) continue;
    if (used == columns_.size()) columns_.emplace_back();
    ScoreColumn& column = columns_[used];
    PluginStatus status = ScoreRows(attempt, use.plugin, feasible, column.normalized);
    if (!status.ok()) return Ranked(std::move(status));
    if (scores_ == Scores::kByPlugin) {
      column.plugin = use.plugin;
      column.weight = use.weight;
      column.raw = column.normalized;
      ++used;
    }
    status = AddScores(attempt, use, feasible, column.normalized, totals_);
    if (!status.ok()) return Ranked(std::move(status));
  }
  return {feasible, totals_, std::span(columns_).first(used)};
}

}  // namespace berth::host
