#include "host/runtime/points/fresh_evaluation.h"

#include <span>
#include <utility>

#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/points/what_if.h"

namespace berth::host {

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
  const std::vector<FilterStage> stages = FilterStages(attempt);
  FilterPass pass(attempt, rejected_);
  status = pass.RunInBlocks(stages.front().in_blocks, candidates, nominated, feasible_);
  return status.ok() ? pass.RunStages(std::span(stages).subspan(1), feasible_) : status;
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
