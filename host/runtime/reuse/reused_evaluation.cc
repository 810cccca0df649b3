#include "host/runtime/reuse/reused_evaluation.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "host/base/text.h"
#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/points/what_if.h"

namespace berth::host {
namespace {

constexpr size_t kMaxScores = 4;  // ClassScores of one class.

}  // namespace

// --- classes -------------------------------------------------------------------------------------

ReusedEvaluation::Entry* ReusedEvaluation::EntryFor(const ClassKey& key) {
  ++lookups_;
  const auto [first, last] = by_hash_.equal_range(key.hash());
  const auto found = std::find_if(
      first, last, [&key](const auto& known) { return known.second->pod_class.key() == key; });
  if (found != last) {
    classes_.splice(classes_.begin(), classes_, found->second);
  } else if (IsAdmitted(key)) {
    classes_.emplace_front(key, memory_);
    by_hash_.emplace(key.hash(), classes_.begin());
  } else {
    return nullptr;
  }
  classes_.front().last_use = lookups_;
  return &classes_.front();
}

bool ReusedEvaluation::IsAdmitted(const ClassKey& key) {
  sightings_.resize(kSightings);
  Sighting& sighting = sightings_[key.hash() % kSightings];
  if (sighting.hash != key.hash()) sighting = {.hash = key.hash()};
  if (++sighting.count < options_.sightings) return false;
  // If there are more classes in use than fit into the memory, those that are kept stay. Otherwise
  // each would be dropped before its next pod.
  const bool is_full = !classes_.empty() && bytes_ + classes_.front().bytes > options_.bytes;
  return !is_full || lookups_ - classes_.back().last_use > 4 * classes_.size();
}

ClassScores& ReusedEvaluation::ScoresFor(const ClassKey& key) {
  auto& all = current_->scores;
  const auto found =
      std::ranges::find_if(all, [&key](const auto& scores) { return scores->key() == key; });
  if (found != all.end()) {
    std::rotate(all.begin(), found, found + 1);
  } else {
    if (all.size() == kMaxScores) all.pop_back();
    all.insert(all.begin(), std::make_unique<ClassScores>(key, memory_));
  }
  return *all.front();
}

void ReusedEvaluation::Unlink(Entries::iterator entry) {
  const auto [first, last] = by_hash_.equal_range(entry->pod_class.key().hash());
  by_hash_.erase(
      std::find_if(first, last, [&](const auto& known) { return known.second == entry; }));
  bytes_ -= entry->bytes;
}

void ReusedEvaluation::RetireCurrent() {
  current_ = nullptr;
  Unlink(classes_.begin());
  retired_.splice(retired_.begin(), classes_, classes_.begin());
}

void ReusedEvaluation::KeepLimit() {
  size_t bytes = current_->pod_class.bytes();
  for (const auto& scores : current_->scores) bytes += scores->bytes();
  bytes_ -= std::exchange(current_->bytes, bytes);
  bytes_ += bytes;
  while (bytes_ > options_.bytes && classes_.size() > 1) {
    Unlink(std::prev(classes_.end()));
    classes_.pop_back();
  }
}

// --- Filter --------------------------------------------------------------------------------------

Filtered ReusedEvaluation::Filter(Attempt& attempt, const Selection& candidates,
                                  const Nominator& nominator) {
  current_ = nullptr;
  retired_.clear();
  const bool can_reuse = options_.bytes > 0 && &candidates == &attempt.live_rows();
  if (!can_reuse || HasWholeFilter(attempt)) return fresh_.Filter(attempt, candidates, nominator);
  if (PluginStatus status = CheckFilters(attempt); !status.ok())
    return {.status = std::move(status)};
  const ClassKey key(attempt, Point::kFilter);
  Entry* const entry = key.CanReuse() ? EntryFor(key) : nullptr;
  if (entry == nullptr) return fresh_.Filter(attempt, candidates, nominator);
  rejected_.clear();
  PluginStatus status = FilterNominated(attempt, candidates, nominator, rejected_);
  if (!status.ok()) return {.status = std::move(status)};
  // If the error may not be that of a pass over all nodes, this pass decides. A failure in both is
  // one fault.
  std::optional<FilterFaultLimits> limits;
  if (!entry->pod_class.HasExactErrors()) limits.emplace(attempt);
  status = entry->pod_class.Refresh(attempt);
  if (!status.ok()) {
    RetireCurrent();
    const bool can_retry = limits.has_value() && CheckFilters(attempt).ok();
    if (can_retry) return fresh_.Filter(attempt, candidates, nominator);
    return {.status = std::move(status)};
  }
  current_ = entry;
  Filtered filtered = FilteredByClass(attempt);
  KeepLimit();
  if (options_.is_checked) Check(attempt, nominator, filtered);
  return filtered;
}

Filtered ReusedEvaluation::FilteredByClass(const Attempt& attempt) {
  const PodClass& pod_class = current_->pod_class;
  const Selection* feasible = &pod_class.feasible();
  if (!rejected_.empty()) {
    reduced_ = *feasible;
    for (const RejectedRow& rejected : rejected_) reduced_.Erase(rejected.row);
    feasible = &reduced_;
  }
  if (feasible->size() == 0) {
    pod_class.AppendRejected(attempt.live_rows(), rejected_);
  } else {
    rejected_.clear();
  }
  return {.feasible = feasible, .rejected = rejected_};
}

// --- Score ---------------------------------------------------------------------------------------

Ranked ReusedEvaluation::Score(Attempt& attempt, const Filtered& filtered) {
  // PreScore may bind a column, which changes rows if it has to be built again. With nominated
  // pods, the feasible rows may be fewer than those of the class.
  const bool can_reuse = current_ != nullptr &&
                         filtered.feasible == &current_->pod_class.feasible() &&
                         attempt.table().generation() == current_->pod_class.generation();
  if (!can_reuse) return fresh_.Score(attempt, filtered);
  const ClassKey key(attempt, Point::kScore);
  if (!key.CanReuse()) return fresh_.Score(attempt, filtered);
  Ranked ranked = ScoreWithClass(attempt, key);
  if (ranked.status().ok()) {
    if (options_.is_checked) Check(attempt, filtered, ranked);
    return ranked;
  }
  RetireCurrent();
  // No plugin failed if a score is out of range; a new evaluation reports which one.
  if (!ranked.status().plugin.has_value()) return fresh_.Score(attempt, filtered);
  return ranked;
}

Ranked ReusedEvaluation::ScoreWithClass(Attempt& attempt, const ClassKey& key) {
  const PodClass& pod_class = current_->pod_class;
  const Selection& feasible = pod_class.feasible();
  ClassScores& scores = ScoresFor(key);
  PluginStatus status = scores.Refresh(attempt, pod_class);
  if (!status.ok()) return Ranked(std::move(status));
  KeepLimit();
  const auto is_reused = [](const ClassUse& use) { return use.reuse == Reuse::kRow; };
  if (std::ranges::all_of(key.uses(), is_reused)) return {feasible, scores.totals()};
  totals_.clear();
  feasible.ForEachRow([&](Row row) { totals_.push_back(scores.totals().totals()[row]); });
  for (const ClassUse& use : key.uses()) {
    if (is_reused(use)) continue;
    status = ScoreRows(attempt, use.use.plugin, feasible, scores_);
    if (status.ok()) status = AddScores(attempt, use.use, feasible, scores_, totals_);
    if (!status.ok()) return Ranked(std::move(status));
  }
  return {feasible, totals_, {}};
}

// --- the check -----------------------------------------------------------------------------------

namespace {

std::string VerdictText(const Attempt& attempt, const RowVerdict& verdict) {
  if (verdict.plugin == kNoPlugin) return "no verdict";
  const PluginCycle& cycle = attempt.cycle(verdict.plugin);
  return cycle.plugin().name + ": " + Join(cycle.RejectionTexts(verdict.reasons), ", ");
}

std::string About(const Attempt& attempt, Row row) {
  return "pod " + attempt.pod()->Key() + ", node " + std::string(attempt.table().node(row)->name());
}

std::string NewPassFails(const Attempt& attempt, const PluginStatus& status) {
  return "pod " + attempt.pod()->Key() + ": a new pass fails: " + status.Message();
}

std::vector<RowVerdict> ByRow(const Attempt& attempt, std::span<const RejectedRow> rejected) {
  std::vector<RowVerdict> verdicts(attempt.table().row_count());
  for (const RejectedRow& each : rejected) verdicts[each.row] = each.verdict;
  return verdicts;
}

PluginStatus ReusedWrongly(const std::string& difference) {
  return PluginStatus::Error(std::nullopt, std::string(kReusedWrongly) + difference);
}

}  // namespace

std::optional<std::string> FindDifference(const Attempt& attempt, const Filtered& reused,
                                          const Filtered& fresh) {
  if (!fresh.status.ok()) return NewPassFails(attempt, fresh.status);
  const std::vector<Row> rows = reused.feasible->Rows();
  const std::vector<Row> fresh_rows = fresh.feasible->Rows();
  if (rows != fresh_rows) {
    const auto [a, b] = std::ranges::mismatch(rows, fresh_rows);
    const bool is_reused = b == fresh_rows.end() || (a != rows.end() && *a < *b);
    if (!is_reused) return About(attempt, *b) + ": feasible, but not by reused verdicts";
    return About(attempt, *a) + ": feasible by reused verdicts, but by new ones \"" +
           VerdictText(attempt, fresh.VerdictOf(*a)) + '"';
  }
  if (!rows.empty()) return std::nullopt;
  const std::vector<RowVerdict> verdicts = ByRow(attempt, reused.rejected);
  const std::vector<RowVerdict> fresh_verdicts = ByRow(attempt, fresh.rejected);
  const auto [a, b] = std::ranges::mismatch(verdicts, fresh_verdicts);
  if (a == verdicts.end()) return std::nullopt;
  return About(attempt, static_cast<Row>(a - verdicts.begin())) + ": the reused verdict is \"" +
         VerdictText(attempt, *a) + "\", a new one \"" + VerdictText(attempt, *b) + '"';
}

std::optional<std::string> FindDifference(const Attempt& attempt, const Selection& feasible,
                                          const Ranked& reused, const Ranked& fresh) {
  if (!fresh.status().ok()) return NewPassFails(attempt, fresh.status());
  const std::vector<int64_t> totals = reused.Totals();
  const std::vector<int64_t> fresh_totals = fresh.Totals();
  const auto [a, b] = std::ranges::mismatch(totals, fresh_totals);
  if (a != totals.end()) {
    const auto i = static_cast<uint32_t>(a - totals.begin());
    return About(attempt, feasible.At(i)) + ": the reused total is " + std::to_string(*a) +
           ", a new one " + std::to_string(*b);
  }
  uint32_t k = 0;
  for (const Row row : fresh.BestRows()) {
    if (k >= reused.best_count() || reused.BestRow(k) != row) {
      return About(attempt, row) + ": not among the best nodes by reused scores";
    }
    ++k;
  }
  if (k == reused.best_count()) return std::nullopt;
  return About(attempt, reused.BestRow(k)) + ": among the best nodes by reused scores only";
}

void ReusedEvaluation::Check(Attempt& attempt, const Nominator& nominator, Filtered& reused) {
  const Filtered fresh = fresh_.Filter(attempt, attempt.live_rows(), nominator);
  if (const auto difference = FindDifference(attempt, reused, fresh)) {
    reused.status = ReusedWrongly(*difference);
  }
}

void ReusedEvaluation::Check(Attempt& attempt, const Filtered& filtered, Ranked& reused) {
  const Ranked fresh = fresh_.Score(attempt, filtered);
  if (const auto difference = FindDifference(attempt, *filtered.feasible, reused, fresh)) {
    reused = Ranked(ReusedWrongly(*difference));
  }
}

}  // namespace berth::host
