#include "host/runtime/reuse/class_cache.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/runtime/attempt/fault_limits.h"
#include "host/runtime/points/filter_call.h"
#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/reuse/class_check.h"

namespace berth::host {
namespace {

// Returns whether a Filter of the attempt decides about all nodes in one call.
bool HasWholeFilter(const Attempt& attempt) {
  return std::ranges::any_of(attempt.plan().At(Point::kFilter), [&](const PlannedUse& use) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    return !cycle.skip_filter && FiltersWhole(cycle.plugin());
  });
}

PluginStatus Differs(const std::optional<std::string>& difference) {
  if (!difference.has_value()) return {};
  return PluginStatus::Error(std::nullopt, std::string(kReusedWrongly) + *difference);
}

}  // namespace

// The verdicts of rows that nominated pods keep from being feasible.
struct ClassCache::NominatedVerdicts {
  std::vector<Row> rows;  // Ascending.
  std::vector<RowVerdict> verdicts;

  // Takes the verdicts that FilterNominated() recorded for `rows`.
  void Take(const Attempt& attempt) {
    for (const Row row : rows) verdicts.push_back(attempt.verdicts[row]);
  }
  void WriteTo(Attempt& attempt) const {
    for (size_t i = 0; i < rows.size(); ++i) attempt.verdicts[rows[i]] = verdicts[i];
  }
};

// --- classes -------------------------------------------------------------------------------------

PodClass* ClassCache::ClassFor(const ClassKey& key) {
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
  return &classes_.front().pod_class;
}

bool ClassCache::IsAdmitted(const ClassKey& key) {
  sightings_.resize(kSightings);
  Sighting& sighting = sightings_[key.hash() % kSightings];
  if (sighting.hash != key.hash()) sighting = {.hash = key.hash()};
  if (++sighting.count < options_.sightings) return false;
  // If there are more classes in use than fit into the memory, those that are kept stay. Otherwise
  // each would be dropped before its next pod.
  const bool is_full = !classes_.empty() && bytes_ + classes_.front().bytes > options_.bytes;
  return !is_full || lookups_ - classes_.back().last_use > 4 * classes_.size();
}

void ClassCache::Clear() {
  current_ = nullptr;
  by_hash_.clear();
  classes_.clear();
  bytes_ = 0;
}

void ClassCache::Drop(Entries::iterator dropped) {
  const auto [first, last] = by_hash_.equal_range(dropped->pod_class.key().hash());
  by_hash_.erase(
      std::find_if(first, last, [&](const auto& known) { return known.second == dropped; }));
  bytes_ -= dropped->bytes;
  classes_.erase(dropped);
}

void ClassCache::DropCurrent() {
  current_ = nullptr;
  Drop(classes_.begin());
}

void ClassCache::KeepLimit() {
  Entry& current = classes_.front();
  bytes_ -= std::exchange(current.bytes, current.pod_class.bytes());
  bytes_ += current.bytes;
  while (bytes_ > options_.bytes && classes_.size() > 1) Drop(std::prev(classes_.end()));
}

// --- Filter --------------------------------------------------------------------------------------

PluginStatus ClassCache::Filter(Attempt& attempt, const Nominator& nominator) {
  current_ = nullptr;
  if (PluginStatus status = CheckFilters(attempt); !status.ok()) return status;
  const bool can_reuse = options_.bytes > 0 && attempt.candidates == &attempt.live_rows();
  if (!can_reuse || HasWholeFilter(attempt)) return RunFilter(attempt, nominator);
  const ClassKey key(attempt, Point::kFilter);
  PodClass* const pod_class = key.CanReuse() ? ClassFor(key) : nullptr;
  if (pod_class == nullptr) return RunFilter(attempt, nominator);
  NominatedVerdicts nominated;
  PluginStatus status = FilterNominated(attempt, nominator, nominated.rows);
  if (!status.ok()) return status;
  nominated.Take(attempt);
  status = Refresh(attempt, nominator, *pod_class);
  if (!status.ok() || current_ == nullptr) return status;
  SetFeasible(attempt, nominated);
  KeepLimit();
  return options_.is_checked ? Differs(CheckReusedVerdicts(attempt, nominator)) : status;
}

// Sets current_ unless it succeeds without the class, or fails.
PluginStatus ClassCache::Refresh(Attempt& attempt, const Nominator& nominator,
                                 PodClass& pod_class) {
  // If the error may not be that of a pass over all nodes, this pass decides. A failure in both is
  // one fault.
  std::optional<FaultLimits> limits;
  if (!pod_class.HasExactErrors()) limits.emplace(attempt, Point::kFilter);
  PluginStatus status = pod_class.Refresh(attempt);
  if (status.ok()) {
    current_ = &pod_class;
    return status;
  }
  DropCurrent();
  const bool can_retry = limits.has_value() && CheckFilters(attempt).ok();
  return can_retry ? RunFilter(attempt, nominator) : status;
}

void ClassCache::SetFeasible(Attempt& attempt, const NominatedVerdicts& nominated) {
  attempt.feasible = &current_->feasible();
  if (!nominated.rows.empty()) {
    attempt.own_feasible = current_->feasible();
    for (const Row row : nominated.rows) attempt.own_feasible.Erase(row);
    attempt.feasible = &attempt.own_feasible;
  }
  if (attempt.feasible->size() == 0) {
    current_->CollectVerdicts(attempt);
    nominated.WriteTo(attempt);
  }
}

// --- Score ---------------------------------------------------------------------------------------

PluginStatus ClassCache::Score(Attempt& attempt) {
  // PreScore may bind a column, which changes rows if it has to be built again. With nominated
  // pods, the feasible rows may be fewer than those of the class.
  const bool can_reuse = current_ != nullptr && attempt.feasible == &current_->feasible() &&
                         attempt.table().generation() == current_->generation();
  if (!can_reuse) return RunScore(attempt);
  const ClassKey key(attempt, Point::kScore);
  if (!key.CanReuse()) return RunScore(attempt);
  PluginStatus status = ScoreWithClass(attempt, key);
  if (status.ok()) return options_.is_checked ? Differs(CheckReusedScores(attempt)) : status;
  // The attempt needs the feasible rows after the class is gone.
  attempt.own_feasible = *attempt.feasible;
  attempt.feasible = &attempt.own_feasible;
  DropCurrent();
  // No plugin failed if a score is out of range; RunScore() reports which one.
  return status.plugin.has_value() ? status : RunScore(attempt);
}

PluginStatus ClassCache::ScoreWithClass(Attempt& attempt, const ClassKey& key) {
  ClassScores& scores = current_->ScoresFor(key);
  if (PluginStatus status = scores.Refresh(attempt, *current_); !status.ok()) return status;
  KeepLimit();
  attempt.score_count = 0;
  attempt.totals.clear();
  attempt.ranking = &scores.totals();
  const auto is_reused = [](const ClassUse& use) { return use.reuse == Reuse::kRow; };
  attempt.scored = std::ranges::all_of(key.uses(), is_reused);
  if (attempt.scored) return {};
  attempt.ranking = nullptr;
  const std::span<const int64_t> by_row = scores.totals().totals();
  attempt.feasible->ForEachRow([&](Row row) { attempt.totals.push_back(by_row[row]); });
  for (const ClassUse& use : key.uses()) {
    if (is_reused(use)) continue;
    if (PluginStatus status = AddScores(attempt, use.use); !status.ok()) return status;
  }
  attempt.scored = true;
  return {};
}

}  // namespace berth::host
