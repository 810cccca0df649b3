#include "host/runtime/points/run_score.h"

#include <algorithm>
#include <array>
#include <string>

#include <berth/abi.h>

#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {

// --- normalize -----------------------------------------------------------------------------------

namespace {

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

}  // namespace

void Normalize(uint32_t mode, ScoreRange range, std::span<int64_t> scores) {
  if (mode == BERTH_NORMALIZE_NONE) return;
  constexpr int64_t kSafe = INT64_MAX / (2 * BERTH_SCORE_MAX);
  if (range.high <= kSafe && range.low >= -kSafe) {
    NormalizeIn<int64_t>(mode, scores, range.low, range.high);
  } else {
    NormalizeIn<Wide>(mode, scores, range.low, range.high);
  }
}

void Normalize(uint32_t mode, std::span<int64_t> scores) {
  if (mode == BERTH_NORMALIZE_NONE || scores.empty()) return;
  const auto [low, high] = std::ranges::minmax(scores);
  Normalize(mode, {low, high}, scores);
}

namespace {

// The value of scores before the call. No plugin may give it, so that missing scores are found.
constexpr int64_t kUnwrittenScore = INT64_MIN;

PluginStatus NoScore(const Attempt& attempt, const PlannedPlugin& plugin, Row row) {
  const std::string what = "no score for node " + std::string(attempt.table().node(row)->name());
  plugin.host->NoteFault(Point::kScore, FaultKind::kBadScore, what);
  return PluginError(plugin, Point::kScore, what);
}

PluginStatus NormalizeScores(PluginCycle& cycle, const Selection& feasible,
                             std::span<int64_t> scores) {
  const berth_score& score = *cycle.plugin().instance->score();
  if (score.normalize_mode != BERTH_NORMALIZE_CUSTOM) {
    Normalize(score.normalize_mode, scores);
    return {};
  }
  const std::vector<Row> rows = feasible.Rows();
  berth_scores io{.struct_size = sizeof(berth_scores),
                  .count = feasible.size(),
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

PluginStatus OutOfRange(const PlannedPlugin& plugin, int64_t score) {
  const std::string what = "returns an invalid score " + std::to_string(score) +
                           ", it should in the range of [0, 100] after normalizing";
  plugin.host->NoteFault(Point::kScore, FaultKind::kBadScore, what);
  return PluginStatus::Error(
      plugin.id,
      "applying score defaultWeights on Score plugins: plugin \"" + plugin.name + "\" " + what);
}

}  // namespace

PluginStatus RunPreScore(Attempt& attempt, const Selection& feasible) {
  for (const PlannedUse& use : attempt.plan().At(Point::kPreScore)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (IsQuarantined(plugin)) {
      cycle.skip_score = true;
      continue;
    }
    const NodesView passed(cycle, feasible);
    const NodesView all(cycle, attempt.live_rows());
    berth_pre_score_out out{
        .struct_size = sizeof(berth_pre_score_out), .reserved = 0, .impl = nullptr};
    cycle.set_binding_allowed(true);
    PluginAnswer answer =
        Invoke(cycle, Point::kPreScore, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.pre_score()->pre_score(instance.self(), abi, passed.abi(), all.abi(),
                                                 &out, status);
        });
    cycle.set_binding_allowed(false);
    if (answer.code == BERTH_SKIP) {
      cycle.skip_score = true;
    } else if (answer.code == BERTH_PENDING) {
      return AwaitedStatus(plugin, std::move(answer));
    } else if (!answer.ok()) {
      return AnswerError(plugin, Point::kPreScore, answer);
    }
  }
  return {};
}

bool IsScored(const Attempt& attempt, const PlannedUse& use) {
  const PluginCycle& cycle = attempt.cycle(use.plugin);
  return !cycle.skip_score && !IsQuarantined(cycle.plugin());
}

bool NormalizesItself(const PlannedPlugin& plugin) {
  return plugin.instance->score()->normalize_mode == BERTH_NORMALIZE_CUSTOM;
}

PluginStatus ScoreRows(Attempt& attempt, uint32_t plugin, const Selection& rows,
                       std::vector<int64_t>& raw) {
  PluginCycle& cycle = attempt.cycle(plugin);
  alignas(64) std::array<int64_t, kBlockRows> out;
  std::vector<berth_column> columns;
  raw.clear();
  for (const Selection::Block& block : rows.blocks()) {
    const auto selected = rows.SelectedOf(block);
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

PluginStatus AddScores(Attempt& attempt, const PlannedUse& use, const Selection& feasible,
                       std::span<int64_t> scores, std::span<int64_t> totals) {
  PluginCycle& cycle = attempt.cycle(use.plugin);
  PluginStatus status = NormalizeScores(cycle, feasible, scores);
  if (!status.ok()) return status;
  // One pass adds the scores and detects whether one is out of range. Then a sum may wrap around.
  constexpr auto kOutside = [](int64_t score) { return score < 0 || score > BERTH_SCORE_MAX; };
  bool outside = false;
  for (size_t i = 0; i < totals.size(); ++i) {
    outside |= static_cast<uint64_t>(scores[i]) > uint64_t{BERTH_SCORE_MAX};
    totals[i] =
        static_cast<int64_t>(static_cast<uint64_t>(totals[i]) +
                             static_cast<uint64_t>(use.weight) * static_cast<uint64_t>(scores[i]));
  }
  return outside ? OutOfRange(cycle.plugin(), *std::ranges::find_if(scores, kOutside)) : status;
}

}  // namespace berth::host
