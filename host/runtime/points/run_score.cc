#include "host/runtime/points/run_score.h"

#include <algorithm>

#include "host/runtime/attempt/invoke.h"
#include "host/runtime/attempt/nodes_view.h"
#include "host/runtime/attempt/plugin_error.h"
#include "host/runtime/points/normalize.h"
#include "host/runtime/points/score_call.h"

namespace berth::host {
namespace {

// Returns the row numbers of the feasible rows.
std::vector<uint32_t> FeasibleRows(const Attempt& attempt) {
  std::vector<uint32_t> rows;
  rows.reserve(attempt.feasible->size());
  attempt.feasible->ForEachRow([&rows](Row row) { rows.push_back(row); });
  return rows;
}

PluginStatus NormalizeRows(const Attempt& attempt, PluginCycle& cycle,
                           std::vector<int64_t>& scores) {
  const berth_score& score = *cycle.plugin().instance->score();
  if (score.normalize_mode != BERTH_NORMALIZE_CUSTOM) {
    Normalize(score.normalize_mode, scores);
    return {};
  }
  const std::vector<uint32_t> rows = FeasibleRows(attempt);
  berth_scores io{.struct_size = sizeof(berth_scores),
                  .count = attempt.feasible->size(),
                  .rows = rows.data(),
                  .scores = scores.data()};
  const PluginAnswer answer = Invoke(
      cycle, Point::kScore,
      [&](auto& instance, auto* abi, berth_status* status) {
        return score.normalize(instance.self(), abi, &io, status);
      },
      kCycleWord);
  if (answer.ok()) return {};
  return AnswerError(cycle.plugin(), Point::kScore, answer, PointFunction::kNormalize);
}

// Adds the weighted scores to the totals, in one pass that also detects scores out of range.
PluginStatus AddToTotals(const PlannedPlugin& plugin, const ScoreColumn& column,
                         std::span<int64_t> totals) {
  constexpr auto kOutside = [](int64_t score) { return score < 0 || score > BERTH_SCORE_MAX; };
  const int64_t* const scores = column.normalized.data();
  const int64_t weight = column.weight;
  bool outside = false;
  for (size_t i = 0; i < totals.size(); ++i) {
    outside |= static_cast<uint64_t>(scores[i]) > uint64_t{BERTH_SCORE_MAX};
    // May wrap around if a score is out of range, which is reported as an error.
    totals[i] =
        static_cast<int64_t>(static_cast<uint64_t>(totals[i]) +
                             static_cast<uint64_t>(weight) * static_cast<uint64_t>(scores[i]));
  }
  if (!outside) return {};
  const int64_t first = *std::ranges::find_if(column.normalized, kOutside);
  const std::string what = "returns an invalid score " + std::to_string(first) +
                           ", it should in the range of [0, 100] after normalizing";
  plugin.host->NoteFault(Point::kScore, FaultKind::kBadScore, what);
  return PluginStatus::Error(
      plugin.id,
      "applying score defaultWeights on Score plugins: plugin \"" + plugin.name + "\" " + what);
}

}  // namespace

PluginStatus RunPreScore(Attempt& attempt) {
  for (const PlannedUse& use : attempt.plan().At(Point::kPreScore)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (IsQuarantined(plugin)) {
      cycle.skip_score = true;
      continue;
    }
    const NodesView feasible(cycle, *attempt.feasible);
    const NodesView all(cycle, attempt.live_rows());
    berth_pre_score_out out{
        .struct_size = sizeof(berth_pre_score_out), .reserved = 0, .impl = nullptr};
    cycle.set_binding_allowed(true);
    const PluginAnswer answer =
        Invoke(cycle, Point::kPreScore, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.pre_score()->pre_score(instance.self(), abi, feasible.abi(), all.abi(),
                                                 &out, status);
        });
    cycle.set_binding_allowed(false);
    if (answer.code == BERTH_SKIP) {
      cycle.skip_score = true;
    } else if (!answer.ok()) {
      return AnswerError(plugin, Point::kPreScore, answer);
    }
  }
  return {};
}

PluginStatus AddScores(Attempt& attempt, const PlannedUse& use) {
  PluginCycle& cycle = attempt.cycle(use.plugin);
  if (attempt.score_count == attempt.scores.size()) attempt.scores.emplace_back();
  ScoreColumn& column = attempt.scores[attempt.score_count];
  column.plugin = use.plugin;
  column.weight = use.weight;
  PluginStatus status = ScoreRows(attempt, cycle, *attempt.feasible, column.normalized);
  if (!status.ok()) return status;
  if (attempt.keeps_scores) {
    ++attempt.score_count;
    column.raw = column.normalized;
  }
  status = NormalizeRows(attempt, cycle, column.normalized);
  if (!status.ok()) return status;
  return AddToTotals(cycle.plugin(), column, attempt.totals);
}

bool IsScored(const Attempt& attempt, const PlannedUse& use) {
  const PluginCycle& cycle = attempt.cycle(use.plugin);
  return !cycle.skip_score && !IsQuarantined(cycle.plugin());
}

PluginStatus RunScore(Attempt& attempt) {
  attempt.score_count = 0;
  attempt.ranking = nullptr;
  attempt.totals.assign(attempt.feasible->size(), 0);
  for (const PlannedUse& use : attempt.plan().At(Point::kScore)) {
    if (!IsScored(attempt, use)) continue;
    if (PluginStatus status = AddScores(attempt, use); !status.ok()) return status;
  }
  attempt.scored = true;
  return {};
}

}  // namespace berth::host
