#include "host/runtime/reuse/reuse_check.h"

#include <algorithm>
#include <utility>

#include "host/base/text.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/reuse/pod_class.h"

namespace berth::host {
namespace {

constexpr const char* kPartNames[] = {
    "IDENTITY", "TIMES",          "NODE_NAME",      "NOMINATION",   "STATUS",
    "VOLUMES",  "NAMESPACE",      "LABELS",         "ANNOTATIONS",  "OWNERS",
    "PRIORITY", "SCHEDULER_NAME", "NODE_SELECTION", "POD_AFFINITY", "TOLERATIONS",
    "SPREAD",   "REQUESTS",       "CONTAINERS",     "PORTS",        "IMAGES",
    "GATES",    "CLAIMS",         "GROUP",          "RUNTIME",      "FIELDS"};
static_assert(std::size(kPartNames) == BERTH_PART_COUNT);

std::string VerdictText(const Attempt& attempt, const RowVerdict& verdict) {
  if (verdict.plugin == kNoPlugin) return "feasible";
  const PluginCycle& cycle = attempt.cycle(verdict.plugin);
  return cycle.plugin().name + ": " + Join(cycle.RejectionTexts(verdict.reasons), ", ");
}

std::string About(const Attempt& attempt, Row row) {
  return "pod " + attempt.pod()->Key() + ", node " + std::string(attempt.table().node(row)->name());
}

ReuseDifference NewPassFails(const Attempt& attempt, const PluginStatus& status) {
  return {.text = "pod " + attempt.pod()->Key() + ": a new pass fails: " + status.Message()};
}

std::vector<RowVerdict> ByRow(const Attempt& attempt, std::span<const RejectedRow> rejected) {
  std::vector<RowVerdict> verdicts(attempt.table().row_count());
  for (const RejectedRow& each : rejected) verdicts[each.row] = each.verdict;
  return verdicts;
}

// Returns the plugin of two different verdicts that is asked first: its answer differs.
uint32_t FirstAsked(const Attempt& attempt, const RowVerdict& a, const RowVerdict& b) {
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    if (use.plugin == a.plugin || use.plugin == b.plugin) return use.plugin;
  }
  return kNoPlugin;
}

ReuseDifference DifferentVerdicts(const Attempt& attempt, Row row, const RowVerdict& reused,
                                  const RowVerdict& fresh) {
  return {.text = About(attempt, row) + ": the reused verdict is \"" +
                  VerdictText(attempt, reused) + "\", a new one \"" + VerdictText(attempt, fresh) +
                  '"',
          .row = row,
          .plugin = FirstAsked(attempt, reused, fresh)};
}

}  // namespace

// --- differences ---------------------------------------------------------------------------------

std::optional<ReuseDifference> FindDifference(const Attempt& attempt, const Filtered& reused,
                                              const Filtered& fresh) {
  if (!fresh.status.ok()) return NewPassFails(attempt, fresh.status);
  const std::vector<Row> rows = reused.feasible->Rows();
  const std::vector<Row> fresh_rows = fresh.feasible->Rows();
  if (rows == fresh_rows && !rows.empty()) return std::nullopt;
  const std::vector<RowVerdict> verdicts = ByRow(attempt, reused.rejected);
  const std::vector<RowVerdict> fresh_verdicts = ByRow(attempt, fresh.rejected);
  if (rows != fresh_rows) {
    const auto [a, b] = std::ranges::mismatch(rows, fresh_rows);
    const bool is_reused = b == fresh_rows.end() || (a != rows.end() && *a < *b);
    const Row row = is_reused ? *a : *b;
    return DifferentVerdicts(attempt, row, verdicts[row], fresh_verdicts[row]);
  }
  const auto [a, b] = std::ranges::mismatch(verdicts, fresh_verdicts);
  if (a == verdicts.end()) return std::nullopt;
  return DifferentVerdicts(attempt, static_cast<Row>(a - verdicts.begin()), *a, *b);
}

std::optional<ReuseDifference> FindDifference(const Attempt& attempt, const Selection& feasible,
                                              const Ranked& reused, const Ranked& fresh) {
  if (!fresh.status().ok()) return NewPassFails(attempt, fresh.status());
  const std::vector<int64_t> totals = reused.Totals();
  const std::vector<int64_t> fresh_totals = fresh.Totals();
  const auto [a, b] = std::ranges::mismatch(totals, fresh_totals);
  if (a != totals.end()) {
    const Row row = feasible.At(static_cast<uint32_t>(a - totals.begin()));
    return ReuseDifference{.text = About(attempt, row) + ": the reused total is " +
                                   std::to_string(*a) + ", a new one " + std::to_string(*b),
                           .row = row};
  }
  uint32_t k = 0;
  for (const Row row : fresh.BestRows()) {
    if (k >= reused.best_count() || reused.BestRow(k) != row) {
      return ReuseDifference{
          .text = About(attempt, row) + ": not among the best nodes by reused scores", .row = row};
    }
    ++k;
  }
  if (k == reused.best_count()) return std::nullopt;
  const Row row = reused.BestRow(k);
  return ReuseDifference{
      .text = About(attempt, row) + ": among the best nodes by reused scores only", .row = row};
}

// --- their cause ---------------------------------------------------------------------------------

void CheckedAnswers::KeepScores(PodRef pod, const Selection& feasible, const Ranked& fresh) {
  pod_of_scores_ = std::move(pod);
  rows_ = feasible.Rows();
  scores_.clear();
  for (const ScoreColumn& column : fresh.columns()) scores_.push_back({column.plugin, column.raw});
}

void CheckedAnswers::NamePlugin(const Attempt& attempt, const Selection& feasible,
                                const Ranked& fresh, ReuseDifference& difference) const {
  const auto before = std::ranges::lower_bound(rows_, difference.row);
  if (before == rows_.end() || *before != difference.row) return;
  const std::vector<Row> rows = feasible.Rows();
  const auto now = std::ranges::lower_bound(rows, difference.row) - rows.begin();
  for (const ScoreColumn& column : fresh.columns()) {
    const auto kept = std::ranges::find(scores_, column.plugin, &Scores::plugin);
    if (kept == scores_.end()) continue;
    const int64_t old_score = kept->raw[static_cast<size_t>(before - rows_.begin())];
    const int64_t new_score = column.raw[static_cast<size_t>(now)];
    if (old_score == new_score) continue;
    difference.plugin = column.plugin;
    difference.text += ": " + attempt.cycle(column.plugin).plugin().name + " scored it " +
                       std::to_string(old_score) + ", now " + std::to_string(new_score);
    return;
  }
}

std::string CheckedAnswers::Explain(const Attempt& attempt, Point point,
                                    const ReuseDifference& difference) const {
  const PodRef& last = point == Point::kFilter ? pod_of_verdicts_ : pod_of_scores_;
  if (difference.plugin == kNoPlugin || last == nullptr) return difference.text;
  const PlannedPlugin& plugin = attempt.cycle(difference.plugin).plugin();
  const berth_dependence* const declared = DependenceAt(plugin, point);
  if (declared == nullptr) return difference.text;
  std::vector<std::string> parts;
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((declared->pod_parts >> part & 1) != 0) continue;
    if (last->part_hash(part) != attempt.pod()->part_hash(part)) {
      parts.emplace_back(kPartNames[part]);
    }
  }
  const std::string since = ", the pod of the reused answer";
  if (!parts.empty()) {
    return difference.text + "; dependence.pod_parts of " + plugin.name +
           " does not name parts in which the pod differs from " + last->Key() + since + ": " +
           Join(parts, ", ");
  }
  return difference.text + "; the pod differs from " + last->Key() + since +
         ", in no part that dependence.pod_parts of " + plugin.name +
         " leaves out: its answer depends on something else, such as other nodes or the time";
}

}  // namespace berth::host
