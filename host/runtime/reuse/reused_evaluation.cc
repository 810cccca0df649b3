#include "host/runtime/reuse/reused_evaluation.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/points/what_if.h"

namespace berth::host {
namespace {

constexpr size_t kMaxScores = 4;  // ClassScores of one class.

PluginStatus ReusedWrongly(const std::string& difference) {
  return PluginStatus::Error(std::nullopt, std::string(kReusedWrongly) + difference);
}

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
  if (!can_reuse) return fresh_.Filter(attempt, candidates, nominator);
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
  Filtered filtered =
      HasWholeFilter(attempt) ? FilterAfterClass(attempt) : FilteredByClass(attempt);
  KeepLimit();
  if (!filtered.status.ok()) return filtered;
  if (options_.is_checked) Check(attempt, nominator, filtered);
  return filtered;
}

const Selection& ReusedEvaluation::FeasibleOfClass() {
  const Selection& feasible = current_->pod_class.feasible();
  if (rejected_.empty()) return feasible;
  reduced_ = feasible;
  for (const RejectedRow& rejected : rejected_) reduced_.Erase(rejected.row);
  return reduced_;
}

Filtered ReusedEvaluation::FilteredByClass(const Attempt& attempt) {
  const Selection& feasible = FeasibleOfClass();
  if (feasible.size() == 0) {
    current_->pod_class.AppendRejected(attempt.live_rows(), rejected_);
  } else {
    rejected_.clear();
  }
  return {.feasible = &feasible, .rejected = rejected_};
}

Filtered ReusedEvaluation::FilterAfterClass(Attempt& attempt) {
  if (const Selection& feasible = FeasibleOfClass(); &feasible != &reduced_) reduced_ = feasible;
  const std::vector<FilterStage> stages = FilterStages(attempt);
  FilterPass pass(attempt, rejected_);
  PluginStatus status = pass.RunStages(std::span(stages).subspan(1), reduced_);
  if (!status.ok()) return {.status = std::move(status)};
  if (reduced_.size() == 0) {
    std::ranges::sort(rejected_, {}, &RejectedRow::row);
    current_->pod_class.AppendRejected(attempt.live_rows(), rejected_);
  } else {
    rejected_.clear();
  }
  return {.feasible = &reduced_, .rejected = rejected_};
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
  const std::span<const int64_t> total_by_row = scores.totals().totals();
  totals_.resize(feasible.size());
  int64_t* total = totals_.data();
  feasible.ForEachRow([&](Row row) { *total++ = total_by_row[row]; });
  for (const ClassUse& use : key.uses()) {
    if (is_reused(use)) continue;
    status = ScoreRows(attempt, use.use.plugin, feasible, scores_);
    if (status.ok()) status = AddScores(attempt, use.use, feasible, scores_, totals_);
    if (!status.ok()) return Ranked(std::move(status));
  }
  return {feasible, totals_, {}};
}

// --- the check -----------------------------------------------------------------------------------

void ReusedEvaluation::Check(Attempt& attempt, const Nominator& nominator, Filtered& reused) {
  const Filtered fresh = checker_.Filter(attempt, attempt.live_rows(), nominator);
  Filtered with_verdicts = reused;
  std::vector<RejectedRow> rejected(reused.rejected.begin(), reused.rejected.end());
  if (rejected.empty()) current_->pod_class.AppendRejected(attempt.live_rows(), rejected);
  with_verdicts.rejected = rejected;
  const auto difference = FindDifference(attempt, with_verdicts, fresh);
  CheckedAnswers& answers = current_->checked;
  if (difference.has_value()) {
    reused.status = ReusedWrongly(answers.Explain(attempt, Point::kFilter, *difference));
  } else {
    answers.KeepVerdicts(attempt.pod());
  }
}

void ReusedEvaluation::Check(Attempt& attempt, const Filtered& filtered, Ranked& reused) {
  const Ranked fresh = checker_.Score(attempt, filtered);
  auto difference = FindDifference(attempt, *filtered.feasible, reused, fresh);
  CheckedAnswers& answers = current_->checked;
  if (difference.has_value()) {
    answers.NamePlugin(attempt, *filtered.feasible, fresh, *difference);
    reused = Ranked(ReusedWrongly(answers.Explain(attempt, Point::kScore, *difference)));
    return;
  }
  answers.KeepScores(attempt.pod(), *filtered.feasible, fresh);
}

}  // namespace berth::host
