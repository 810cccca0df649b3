#include "host/runtime/class_cache.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/runtime/class_check.h"
#include "host/runtime/fault_limits.h"
#include "host/runtime/filter_call.h"
#include "host/runtime/run_filter.h"
#include "host/runtime/run_score.h"

namespace berth::host {
namespace {

// Returns whether a Filter of the attempt must be called in each cycle, for every row that the
// Filters before it passed.
bool NeedsEveryCall(const Attempt& attempt) {
  return std::ranges::any_of(attempt.plan().At(Point::kFilter), [&](const PlannedUse& use) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    if (cycle.skip_filter) return false;
    const berth_filter& filter = *cycle.plugin().instance->filter();
    const bool is_serial = (filter.flags & BERTH_FILTER_SERIAL) != 0;
    return FiltersWhole(cycle.plugin()) || (is_serial && filter.dependence == nullptr);
  });
}

// The verdicts of rows that nominated pods keep from being feasible.
struct NominatedVerdicts {
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

void AssertEqual(const std::optional<std::string>& difference) {
  BERTH_ASSERT_MSG(!difference.has_value(), "an answer was reused wrongly: %s",
                   difference->c_str());
}

}  // namespace

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
  if (!can_reuse || NeedsEveryCall(attempt)) return RunFilter(attempt, nominator);
  const ClassKey key(attempt, Point::kFilter);
  if (!key.CanReuse()) return RunFilter(attempt, nominator);
  PodClass* const pod_class = ClassFor(key);
  if (pod_class == nullptr) return RunFilter(attempt, nominator);
  // If a plugin fails, the pass over all rows decides. A failure in both passes is one fault.
  const FaultLimits limits(attempt, Point::kFilter);
  PluginStatus status = FilterWithClass(attempt, nominator, *pod_class);
  if (status.ok()) {
    if (options_.is_checked) AssertEqual(CheckReusedVerdicts(attempt, nominator));
    return status;
  }
  DropCurrent();
  return RunFilter(attempt, nominator);
}

PluginStatus ClassCache::FilterWithClass(Attempt& attempt, const Nominator& nominator,
                                         PodClass& pod_class) {
  NominatedVerdicts nominated;
  PluginStatus status = FilterNominated(attempt, nominator, nominated.rows);
  if (!status.ok()) return status;
  nominated.Take(attempt);
  status = pod_class.Refresh(attempt);
  if (!status.ok()) return status;
  if (nominated.rows.empty()) {
    current_ = &pod_class;
    attempt.feasible = &pod_class.feasible();
  } else {
    attempt.own_feasible = pod_class.feasible();
    for (const Row row : nominated.rows) attempt.own_feasible.Erase(row);
    attempt.feasible = &attempt.own_feasible;
  }
  if (attempt.feasible->size() == 0) {
    status = pod_class.CollectVerdicts(attempt);
    nominated.WriteTo(attempt);
  }
  if (status.ok()) KeepLimit();
  return status;
}

// --- Score ---------------------------------------------------------------------------------------

PluginStatus ClassCache::Score(Attempt& attempt) {
  if (current_ == nullptr) return RunScore(attempt);
  const ClassKey key(attempt, Point::kScore);
  if (!key.CanReuse()) return RunScore(attempt);
  const FaultLimits limits(attempt, Point::kScore);
  PluginStatus status = ScoreWithClass(attempt, key);
  if (status.ok()) {
    if (options_.is_checked) AssertEqual(CheckReusedScores(attempt));
    return status;
  }
  // The attempt needs the feasible rows after the class is gone.
  attempt.own_feasible = *attempt.feasible;
  attempt.feasible = &attempt.own_feasible;
  DropCurrent();
  return RunScore(attempt);
}

PluginStatus ClassCache::ScoreWithClass(Attempt& attempt, const ClassKey& key) {
  ClassScores& scores = current_->ScoresFor(key);
  if (PluginStatus status = scores.Refresh(attempt, *current_); !status.ok()) return status;
  KeepLimit();
  attempt.score_count = 0;
  attempt.totals.clear();
  attempt.ranking = &scores.totals();
  attempt.scored = true;
  const auto is_reused = [](const ClassUse& use) { return use.reuse == Reuse::kRow; };
  if (std::ranges::all_of(key.uses(), is_reused)) return {};
  attempt.ranking = nullptr;
  const std::span<const int64_t> by_row = scores.totals().totals();
  attempt.feasible->ForEachRow([&](Row row) { attempt.totals.push_back(by_row[row]); });
  for (const ClassUse& use : key.uses()) {
    if (is_reused(use)) continue;
    if (PluginStatus status = AddScores(attempt, use.use); !status.ok()) return status;
  }
  return {};
}

}  // namespace berth::host
