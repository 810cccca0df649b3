#include "host/runtime/reuse/class_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/base/text.h"
#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/reuse/totals_tree.h"

namespace berth::host {
namespace {

std::vector<Row> RowsOf(const Selection& selection) {
  std::vector<Row> rows;
  selection.ForEachRow([&rows](Row row) { rows.push_back(row); });
  return rows;
}

// The results of Filter, which a second pass replaces.
struct FilterResults {
  explicit FilterResults(const Attempt& attempt)
      : feasible(attempt.feasible), own(attempt.own_feasible), verdicts(attempt.verdicts) {}

  void RestoreTo(Attempt& attempt) {
    attempt.feasible = feasible;
    attempt.own_feasible = std::move(own);
    attempt.verdicts = std::move(verdicts);
  }

  const Selection* feasible;
  Selection own;
  std::vector<RowVerdict> verdicts;
};

std::string VerdictText(const Attempt& attempt, const RowVerdict& verdict) {
  if (verdict.plugin == kNoPlugin) return "no verdict";
  const PluginCycle& cycle = attempt.cycle(verdict.plugin);
  return cycle.plugin().name + ": " + Join(cycle.RejectionTexts(verdict.reasons), ", ");
}

std::string About(const Attempt& attempt, Row row) {
  return "pod " + attempt.pod->Key() + ", node " + std::string(attempt.table().node(row)->name());
}

std::optional<std::string> FindVerdict(const Attempt& attempt,
                                       const std::vector<RowVerdict>& fresh) {
  std::optional<std::string> found;
  attempt.candidates->ForEachRow([&](Row row) {
    const RowVerdict& reused = attempt.verdicts[row];
    if (found.has_value() ||
        (reused.plugin == fresh[row].plugin && reused.code == fresh[row].code &&
         reused.reasons == fresh[row].reasons)) {
      return;
    }
    found = About(attempt, row) + ": the reused verdict is \"" + VerdictText(attempt, reused) +
            "\", a new one \"" + VerdictText(attempt, fresh[row]) + '"';
  });
  return found;
}

// Compares the best rows of the ranking with those of the attempt's totals.
std::optional<std::string> CheckBestRows(const Attempt& attempt, const TotalsTree& ranking) {
  const int64_t best = *std::ranges::max_element(attempt.totals);
  std::optional<std::string> found;
  uint32_t i = 0;
  uint32_t k = 0;
  attempt.feasible->ForEachRow([&](Row row) {
    if (attempt.totals[i++] != best || found.has_value()) return;
    if (k >= ranking.best_count() || ranking.BestRow(k) != row) {
      found = About(attempt, row) + ": not among the best nodes by reused scores";
    }
    ++k;
  });
  if (!found.has_value() && k != ranking.best_count()) {
    found = About(attempt, ranking.BestRow(k)) + ": among the best nodes by reused scores only";
  }
  return found;
}

}  // namespace

std::optional<std::string> CheckReusedVerdicts(Attempt& attempt, const Nominator& nominator) {
  FilterResults reused(attempt);
  const std::vector<Row> rows = RowsOf(*attempt.feasible);
  const PluginStatus status = RunFilter(attempt, nominator);
  const std::vector<Row> fresh_rows = RowsOf(*attempt.feasible);
  const std::vector<RowVerdict> fresh = attempt.verdicts;
  reused.RestoreTo(attempt);
  if (!status.ok()) return "pod " + attempt.pod->Key() + ": a new pass fails: " + status.Message();
  if (rows != fresh_rows) {
    const auto [a, b] = std::ranges::mismatch(rows, fresh_rows);
    const bool is_reused = b == fresh_rows.end() || (a != rows.end() && *a < *b);
    const Row row = is_reused ? *a : *b;
    return About(attempt, row) + (is_reused ? ": feasible by reused verdicts, but by new ones \"" +
                                                  VerdictText(attempt, fresh[row]) + '"'
                                            : ": feasible, but not by reused verdicts");
  }
  return rows.empty() ? FindVerdict(attempt, fresh) : std::nullopt;
}

std::optional<std::string> CheckReusedScores(Attempt& attempt) {
  const TotalsTree* const ranking = attempt.ranking;
  std::vector<int64_t> reused = attempt.totals;
  if (ranking != nullptr) {
    attempt.feasible->ForEachRow([&](Row row) { reused.push_back(ranking->totals()[row]); });
  }
  const PluginStatus status = RunScore(attempt);
  if (!status.ok()) return "pod " + attempt.pod->Key() + ": a new pass fails: " + status.Message();
  std::optional<std::string> found;
  uint32_t i = 0;
  attempt.feasible->ForEachRow([&](Row row) {
    const int64_t fresh = attempt.totals[i];
    if (!found.has_value() && reused[i] != fresh) {
      found = About(attempt, row) + ": the reused total is " + std::to_string(reused[i]) +
              ", a new one " + std::to_string(fresh);
    }
    ++i;
  });
  if (ranking != nullptr && !found.has_value()) found = CheckBestRows(attempt, *ranking);
  attempt.ranking = ranking;
  if (ranking != nullptr) attempt.totals.clear();
  return found;
}

}  // namespace berth::host
