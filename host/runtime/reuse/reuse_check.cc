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
                                   std::to_string(*a) + ", a new one " + std::to_string(*b)};
  }
  uint32_t k = 0;
  for (const Row row : fresh.BestRows()) {
    if (k >= reused.best_count() || reused.BestRow(k) != row) {
      return ReuseDifference{.text = About(attempt, row) +
                                     ": not among the best nodes by reused scores"};
    }
    ++k;
  }
  if (k == reused.best_count()) return std::nullopt;
  return ReuseDifference{.text = About(attempt, reused.BestRow(k)) +
                                 ": among the best nodes by reused scores only"};
}

// --- their cause ---------------------------------------------------------------------------------

void LastChecked::Keep(const Attempt& attempt, const Selection& feasible, const Ranked& fresh) {
  pod_ = attempt.pod();
  generation_ = attempt.table().generation();
  rows_ = feasible.Rows();
  scores_.clear();
  for (const ScoreColumn& column : fresh.columns()) scores_.push_back({column.plugin, column.raw});
}

void LastChecked::NamePlugin(const Attempt& attempt, const Selection& feasible, const Ranked& fresh,
                             const std::vector<uint32_t>& plugins,
                             ReuseDifference& difference) const {
  const std::vector<Row> rows = feasible.Rows();
  for (const ScoreColumn& column : fresh.columns()) {
    const auto kept = std::ranges::find(scores_, column.plugin, &Scores::plugin);
    const bool is_reused = std::ranges::find(plugins, column.plugin) != plugins.end();
    if (kept == scores_.end() || !is_reused) continue;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (attempt.table().Generation(rows[i]) > generation_) continue;
      const auto before = std::ranges::lower_bound(rows_, rows[i]);
      if (before == rows_.end() || *before != rows[i]) continue;
      const int64_t old_score = kept->raw[static_cast<size_t>(before - rows_.begin())];
      if (old_score == column.raw[i]) continue;
      difference.plugin = column.plugin;
      difference.text += "; " + attempt.cycle(column.plugin).plugin().name + " scored node " +
                         std::string(attempt.table().node(rows[i])->name()) + " " +
                         std::to_string(old_score) + ", and scores it " +
                         std::to_string(column.raw[i]) + " now";
      return;
    }
  }
}

std::string LastChecked::Explain(const Attempt& attempt, Point point,
                                 const ReuseDifference& difference) const {
  if (difference.plugin == kNoPlugin || pod_ == nullptr) return difference.text;
  const PlannedPlugin& plugin = attempt.cycle(difference.plugin).plugin();
  const berth_dependence* const declared = DependenceAt(plugin, point);
  if (declared == nullptr) return difference.text;
  // Two pods always differ in these.
  constexpr uint64_t kAlways = BERTH_PART(IDENTITY) | BERTH_PART(TIMES);
  std::vector<std::string> parts;
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    if (((declared->pod_parts | kAlways) >> part & 1) != 0) continue;
    if (pod_->part_hash(part) != attempt.pod()->part_hash(part)) parts.emplace_back(PartName(part));
  }
  const std::string since =
      "; the pod differs from " + pod_->Key() + ", the pod of the reused answer, in ";
  if (!parts.empty()) {
    return difference.text + since + "parts that " + plugin.name +
           " does not declare: " + Join(parts, ", ");
  }
  return difference.text + since + "no part that " + plugin.name +
         " leaves out, apart from IDENTITY and TIMES: does the answer depend on other nodes, on "
         "the "
         "time, or on what its signature or `changed` leaves out?";
}

std::string_view PartName(uint32_t part) { return kPartNames[part]; }

}  // namespace berth::host
