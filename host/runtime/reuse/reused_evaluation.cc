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
  KeepLimit();
  if (options_.is_checked) {
    if (status = CheckVerdicts(attempt); !status.ok()) return {.status = std::move(status)};
  }
  return HasWholeFilter(attempt) ? FilterAfterClass(attempt) : FilteredByClass(attempt);
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
    if (options_.is_checked) CheckScores(attempt, key, filtered, ranked);
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

// The verdicts on nominated pods in `rejected_` are not reused, and those of a whole Filter and of
// the Filters after it are not either.
PluginStatus ReusedEvaluation::CheckVerdicts(Attempt& attempt) {
  const PodClass& pod_class = current_->pod_class;
  Filtered reused{.feasible = &FeasibleOfClass()};
  std::vector<RejectedRow> reused_rejections = rejected_;
  pod_class.AppendRejected(attempt.live_rows(), reused_rejections);
  reused.rejected = reused_rejections;

  Selection feasible;
  std::vector<RejectedRow> rejections = rejected_;
  FilterPass pass(attempt, rejections);
  Filtered fresh{.feasible = &feasible};
  fresh.status = pass.RunInBlocks(FilterStages(attempt).front().in_blocks, attempt.live_rows(),
                                  rejected_, feasible);
  fresh.rejected = rejections;
  if (const auto difference = FindDifference(attempt, reused, fresh)) {
    return ReusedWrongly(current_->last_checked.Explain(attempt, Point::kFilter, *difference));
  }
  current_->last_checked.Keep(attempt.pod());
  return {};
}

void ReusedEvaluation::CheckScores(Attempt& attempt, const ClassKey& key, const Filtered& filtered,
                                   Ranked& reused) {
  const Ranked fresh = checker_.Score(attempt, filtered);
  LastChecked& last = ScoresFor(key).last_checked;
  auto difference = FindDifference(attempt, *filtered.feasible, reused, fresh);
  if (!difference.has_value()) return last.Keep(attempt, *filtered.feasible, fresh);
  std::vector<uint32_t> plugins;
  for (const ClassUse& use : key.uses()) {
    if (use.reuse == Reuse::kRow) plugins.push_back(use.use.plugin);
  }
  last.NamePlugin(attempt, *filtered.feasible, fresh, plugins, *difference);
  reused = Ranked(ReusedWrongly(last.Explain(attempt, Point::kScore, *difference)));
}

}  // namespace berth::host
