#include "host/runtime/reuse/class_scores.h"

#include <algorithm>

#include "host/base/vectors.h"
#include "host/runtime/points/run_score.h"

namespace berth::host {
namespace {

// If more rows than this, and more than a quarter of all rows, have changed, all rows are scored.
constexpr size_t kFewChanges = 64;

bool IsInRange(int64_t score) { return score >= 0 && score <= BERTH_SCORE_MAX; }

// Leads to an evaluation without reuse, which reports the plugin and the score.
PluginStatus OutOfRange() { return PluginStatus::Error(std::nullopt, "score out of range"); }

}  // namespace

// --- ranges --------------------------------------------------------------------------------------

void ClassScores::Normalized::FindRange(const Selection& feasible) {
  is_range_known = true;
  at_low = 0;
  at_high = 0;
  feasible.ForEachRow([this](Row row) { Add(raw[row]); });
}

void ClassScores::Normalized::Add(int64_t score) {
  if (!is_range_known) return;
  if (at_low == 0 || score < range.low) {
    range.low = score;
    at_low = 0;
  }
  if (at_high == 0 || score > range.high) {
    range.high = score;
    at_high = 0;
  }
  at_low += score == range.low ? 1 : 0;
  at_high += score == range.high ? 1 : 0;
}

void ClassScores::Normalized::Remove(int64_t score) {
  if (!is_range_known) return;
  at_low -= score == range.low ? 1 : 0;
  at_high -= score == range.high ? 1 : 0;
  is_range_known = at_low > 0 && at_high > 0;
}

ScoreRange ClassScores::Normalized::RelevantRange() const {
  const bool depends_on_low =
      mode == BERTH_NORMALIZE_MIN_MAX || mode == BERTH_NORMALIZE_MIN_MAX_FLOAT;
  return depends_on_low ? range : ScoreRange{0, std::max<int64_t>(range.high, 0)};
}

bool ClassScores::UpdateRanges(const PodClass& owner) {
  bool changes = false;
  for (size_t i = 0; i < normalized_.size(); ++i) {
    Normalized& plugin = normalized_[i];
    if (!plugin.is_range_known) plugin.FindRange(owner.feasible());
    const ScoreRange range = plugin.RelevantRange();
    changes = changes || used_ranges_[i] != range;
    used_ranges_[i] = range;
  }
  return changes;
}

// --- rows ----------------------------------------------------------------------------------------

void ClassScores::Start(Attempt& attempt) {
  for (const ClassUse& use : key_.uses()) {
    if (use.reuse != Reuse::kRow) continue;
    const PluginCycle& cycle = attempt.cycle(use.use.plugin);
    const uint32_t mode = cycle.plugin().instance->score()->normalize_mode;
    if (mode == BERTH_NORMALIZE_NONE) {
      fixed_.push_back(use.use);
    } else {
      normalized_.push_back({.use = use.use, .mode = mode});
    }
  }
  used_ranges_.resize(normalized_.size());
  is_started_ = true;
}

void ClassScores::FindChangedRows(const PodClass& owner) {
  const RowJournal& changes = owner.changes();
  memory_.rows.clear();
  memory_.removed.clear();
  const bool are_few = changes.last() - last_change_ <= owner.feasible().size() / 4 + kFewChanges;
  is_rebuilt_ = totals_.row_count() == 0 || !are_few || !changes.Covers(last_change_);
  if (is_rebuilt_) {
    for (Normalized& plugin : normalized_) plugin.is_range_known = false;
    owner.feasible().ForEachRow([this](Row row) { memory_.rows.push_back(row); });
  } else {
    changes.ForEachSince(last_change_, [this](Row row) { memory_.rows.push_back(row); });
    SortUnique(memory_.rows);
    for (const Row row : memory_.rows) RemoveRow(row);
    std::erase_if(memory_.rows, [&](Row row) {
      if (owner.IsFeasible(row)) return false;
      memory_.removed.push_back(row);
      return true;
    });
  }
  last_change_ = changes.last();
}

void ClassScores::RemoveRow(Row row) {
  if (totals_.totals()[row] == TotalsTree::kNone) return;
  for (Normalized& plugin : normalized_) plugin.Remove(plugin.raw[row]);
}

// --- scores --------------------------------------------------------------------------------------

PluginStatus ClassScores::Refresh(Attempt& attempt, const PodClass& owner) {
  if (!is_started_) Start(attempt);
  const uint32_t rows = attempt.table().row_count();
  fixed_sums_.resize(rows);
  for (Normalized& plugin : normalized_) plugin.raw.resize(rows);
  if (totals_.row_count() != 0 && totals_.row_count() < rows) totals_.Grow(rows);
  FindChangedRows(owner);
  if (PluginStatus status = ScoreChangedRows(attempt); !status.ok()) return status;
  const bool all = UpdateRanges(owner) || is_rebuilt_;
  for (const Row row : memory_.removed) {
    if (!all) totals_.Set(row, TotalsTree::kNone);
  }
  const bool in_range = all ? SetAllTotals(owner) : SetTotals(memory_.rows);
  return in_range ? PluginStatus() : OutOfRange();
}

PluginStatus ClassScores::ScoreChangedRows(Attempt& attempt) {
  if (memory_.rows.empty()) return {};
  memory_.selected.AssignRows(attempt.table(), memory_.rows);
  for (const Row row : memory_.rows) fixed_sums_[row] = 0;
  for (const PlannedUse& use : fixed_) {
    if (PluginStatus status = AddFixed(attempt, use); !status.ok()) return status;
  }
  for (Normalized& plugin : normalized_) {
    if (PluginStatus status = AddNormalized(attempt, plugin); !status.ok()) return status;
  }
  return {};
}

PluginStatus ClassScores::AddFixed(Attempt& attempt, const PlannedUse& use) {
  PluginStatus status = ScoreRows(attempt, use.plugin, memory_.selected, memory_.raw);
  if (!status.ok()) return status;
  if (!std::ranges::all_of(memory_.raw, IsInRange)) return OutOfRange();
  for (size_t i = 0; i < memory_.raw.size(); ++i)
    fixed_sums_[memory_.rows[i]] += use.weight * memory_.raw[i];
  return {};
}

PluginStatus ClassScores::AddNormalized(Attempt& attempt, Normalized& plugin) {
  PluginStatus status = ScoreRows(attempt, plugin.use.plugin, memory_.selected, memory_.raw);
  if (!status.ok()) return status;
  for (size_t i = 0; i < memory_.raw.size(); ++i) {
    plugin.raw[memory_.rows[i]] = memory_.raw[i];
    plugin.Add(memory_.raw[i]);
  }
  return {};
}

// --- totals --------------------------------------------------------------------------------------

bool ClassScores::SumScores(std::span<const Row> rows) {
  std::vector<int64_t>& sums = memory_.sums;
  std::vector<int64_t>& scores = memory_.raw;
  sums.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) sums[i] = fixed_sums_[rows[i]];
  for (const Normalized& plugin : normalized_) {
    scores.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = plugin.raw[rows[i]];
    Normalize(plugin.mode, plugin.range, scores);
    if (!std::ranges::all_of(scores, IsInRange)) return false;
    for (size_t i = 0; i < rows.size(); ++i) sums[i] += plugin.use.weight * scores[i];
  }
  return true;
}

bool ClassScores::SetTotals(std::span<const Row> rows) {
  if (!SumScores(rows)) return false;
  for (size_t i = 0; i < rows.size(); ++i) totals_.Set(rows[i], memory_.sums[i]);
  return true;
}

bool ClassScores::SetAllTotals(const PodClass& owner) {
  std::vector<Row>& rows = memory_.rows;
  rows.clear();
  owner.feasible().ForEachRow([&rows](Row row) { rows.push_back(row); });
  if (!SumScores(rows)) return false;
  std::vector<int64_t>& by_row = memory_.by_row;
  by_row.assign(fixed_sums_.size(), TotalsTree::kNone);
  for (size_t i = 0; i < rows.size(); ++i) by_row[rows[i]] = memory_.sums[i];
  totals_.Assign(by_row);
  return true;
}

size_t ClassScores::bytes() const {
  size_t bytes = sizeof(ClassScores) + key_.bytes() + totals_.bytes();
  bytes += fixed_sums_.capacity() * sizeof(int64_t);
  for (const Normalized& plugin : normalized_) bytes += plugin.raw.capacity() * sizeof(int64_t);
  return bytes;
}

}  // namespace berth::host
