#include "host/runtime/run_score.h"

#include <algorithm>
#include <array>

#include "host/runtime/invoke.h"
#include "host/runtime/nodes_view.h"
#include "host/runtime/plugin_error.h"

namespace berth::host {
namespace {

// The value of scores before the call. No plugin may give it, so that missing scores are found.
constexpr int64_t kUnwrittenScore = INT64_MIN;

PluginStatus NoScore(const Attempt& attempt, const PlannedPlugin& plugin, Row row) {
  const std::string what = "no score for node " + std::string(attempt.table().node(row)->name());
  plugin.host->NoteFault(Point::kScore, FaultKind::kBadScore, what);
  return PluginError(plugin, Point::kScore, what);
}

// Gets the raw scores of all feasible rows from one plugin.
PluginStatus ScoreRows(const Attempt& attempt, PluginCycle& cycle, std::vector<int64_t>& raw) {
  alignas(64) std::array<int64_t, kBlockRows> out;
  std::vector<berth_column> columns;
  raw.clear();
  for (const Selection::Block& block : attempt.feasible.blocks()) {
    const auto selected = attempt.feasible.SelectedOf(block);
    const berth_block view = cycle.BlockFor(block.first_row, block.count, selected, columns);
    std::fill_n(out.begin(), block.count, kUnwrittenScore);
    berth_score_out given{
        .struct_size = sizeof(berth_score_out), .reserved = 0, .scores = out.data()};
    const PluginAnswer answer =
        Invoke(cycle, Point::kScore, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.score()->score(instance.self(), abi, &view, &given, status);
        });
    if (!answer.ok()) return AnswerError(cycle.plugin(), Point::kScore, answer);
    const size_t end = raw.size();
    if (selected.size() == block.count) {
      raw.insert(raw.end(), out.begin(), out.begin() + block.count);
    } else {
      raw.resize(end + selected.size());
      for (size_t i = 0; i < selected.size(); ++i) raw[end + i] = out[selected[i]];
    }
    const auto left_out =
        std::find(raw.begin() + static_cast<ptrdiff_t>(end), raw.end(), kUnwrittenScore);
    if (left_out == raw.end()) continue;
    const size_t which = static_cast<size_t>(left_out - raw.begin()) - end;
    return NoScore(attempt, cycle.plugin(), block.first_row + selected[which]);
  }
  return {};
}

PluginStatus NormalizeRows(const Attempt& attempt, PluginCycle& cycle,
                           std::span<const uint32_t> rows, std::vector<int64_t>& scores) {
  const berth_score& score = *cycle.plugin().instance->score();
  if (score.normalize_mode != BERTH_NORMALIZE_CUSTOM) {
    Normalize(score.normalize_mode, scores);
    return {};
  }
  berth_scores io{.struct_size = sizeof(berth_scores),
                  .count = attempt.feasible.size(),
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

// Returns the row numbers of the feasible rows, for custom normalization.
std::vector<uint32_t> FeasibleRows(const Attempt& attempt) {
  std::vector<uint32_t> rows;
  rows.reserve(attempt.feasible.size());
  for (const Selection::Block& block : attempt.feasible.blocks()) {
    for (const uint32_t index : attempt.feasible.SelectedOf(block)) {
      rows.push_back(block.first_row + index);
    }
  }
  return rows;
}

// Raw scores may have any value, and a hundred times such a value must not overflow.
__extension__ using Wide = __int128;

template <class Int>
int64_t Clamp(Int score) {
  return static_cast<int64_t>(std::clamp<Int>(score, INT64_MIN, INT64_MAX));
}

template <class Int>
void NormalizeIn(uint32_t mode, std::span<int64_t> scores, Int low, Int high) {
  constexpr Int kMax = BERTH_SCORE_MAX;
  if (mode == BERTH_NORMALIZE_MIN_MAX_FLOAT) {
    const Int spread = high - low;
    for (int64_t& score : scores) {
      const double share = static_cast<double>(score - low) / static_cast<double>(spread);
      score = spread == 0 ? 0 : static_cast<int64_t>(double{BERTH_SCORE_MAX} * share);
    }
    return;
  }
  if (mode == BERTH_NORMALIZE_MIN_MAX) {
    const Int spread = high - low;
    for (int64_t& score : scores) {
      score = spread == 0 ? 0 : Clamp<Int>(kMax * (score - low) / spread);
    }
    return;
  }
  const bool reverse = mode == BERTH_NORMALIZE_MAX_REVERSED;
  const Int max = std::max<Int>(high, 0);
  if (max == 0) {
    if (reverse) std::ranges::fill(scores, int64_t{BERTH_SCORE_MAX});
    return;
  }
  for (int64_t& score : scores) {
    const Int share = kMax * score / max;
    score = Clamp<Int>(reverse ? kMax - share : share);
  }
}

bool NormalizesItself(const PluginCycle& cycle) {
  return cycle.plugin().instance->score()->normalize_mode == BERTH_NORMALIZE_CUSTOM;
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
    const NodesView feasible(cycle, attempt.feasible);
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

PluginStatus RunScore(Attempt& attempt) {
  attempt.score_count = 0;
  attempt.totals.assign(attempt.feasible.size(), 0);
  std::vector<uint32_t> rows;
  for (const PlannedUse& use : attempt.plan().At(Point::kScore)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    if (cycle.skip_score || IsQuarantined(cycle.plugin())) continue;
    if (attempt.score_count == attempt.scores.size()) attempt.scores.emplace_back();
    ScoreColumn& column = attempt.scores[attempt.score_count++];
    column.plugin = use.plugin;
    column.weight = use.weight;
    if (PluginStatus status = ScoreRows(attempt, cycle, column.raw); !status.ok()) return status;
    if (rows.empty() && NormalizesItself(cycle)) rows = FeasibleRows(attempt);
    column.normalized = column.raw;
    PluginStatus status = NormalizeRows(attempt, cycle, rows, column.normalized);
    if (!status.ok()) return status;
    status = AddToTotals(cycle.plugin(), column, attempt.totals);
    if (!status.ok()) return status;
  }
  attempt.scored = true;
  return {};
}

void Normalize(uint32_t mode, std::span<int64_t> scores) {
  if (mode == BERTH_NORMALIZE_NONE || scores.empty()) return;
  const auto [low, high] = std::ranges::minmax(scores);
  constexpr int64_t kSafe = INT64_MAX / (2 * BERTH_SCORE_MAX);
  if (high <= kSafe && low >= -kSafe) {
    NormalizeIn<int64_t>(mode, scores, low, high);
  } else {
    NormalizeIn<Wide>(mode, scores, low, high);
  }
}

}  // namespace berth::host
