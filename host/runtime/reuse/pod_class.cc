#include "host/runtime/reuse/pod_class.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "host/base/hash.h"
#include "host/base/vectors.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/points/run_filter.h"

namespace berth::host {

// --- verdicts of some plugins --------------------------------------------------------------------

// The verdicts of Filters that are asked together, in the order of the profile: for each row, the
// first rejection, or that all of them pass. A row of which this is not known has to be evaluated.
//
// Threading: the scheduling thread.
class VerdictLayer {
 public:
  // `plugins`: indices into Plan::plugins(), in the order of the profile. If there are none, every
  // row passes.
  VerdictLayer(std::vector<uint32_t> plugins, Reuse reuse)
      : plugins_(std::move(plugins)), reuse_(reuse) {}

  std::span<const uint32_t> plugins() const { return plugins_; }
  Reuse reuse() const { return reuse_; }

  // Adds rows that are not known. REQUIRES: at least as many as there are.
  void Grow(uint32_t rows) { by_row_.resize(rows, kUnknown); }
  void Forget(Row row) { by_row_[row] = kUnknown; }
  void ForgetAll() {
    by_row_.assign(by_row_.size(), kUnknown);
    rejections_.clear();
  }

  bool IsKnown(Row row) const { return by_row_[row] != kUnknown; }
  bool Passes(Row row) const { return by_row_[row] == kPasses; }
  bool Rejects(Row row) const { return by_row_[row] >= kFirstRejection; }
  // REQUIRES: Rejects(row).
  const RowVerdict& RejectionOf(Row row) const {
    return rejections_[by_row_[row] - kFirstRejection];
  }

  // Evaluates ClassMemory::selected and records the verdicts. Returns: success; an error when a
  // plugin failed; then the rows are not known.
  PluginStatus Evaluate(FilterPass& pass, ClassMemory& memory) {
    memory.passed.Clear();
    memory.rejected.clear();
    PluginStatus status = pass.RunInBlocks(plugins_, memory.selected, {}, memory.passed);
    if (!status.ok()) return status;
    memory.passed.ForEachRow([this](Row row) { by_row_[row] = kPasses; });
    if (rejections_.size() > by_row_.size() + kSearched) Compact();
    for (const RejectedRow& rejected : memory.rejected) {
      by_row_[rejected.row] = Code(rejected.verdict);
    }
    return status;
  }

  // The state of the plugin that the verdicts come from (berth_dependence.changed); 0: none. Used
  // if reuse() is Reuse::kToken; such a layer has one plugin.
  uint64_t token = 0;

  size_t bytes() const {
    return by_row_.capacity() * sizeof(uint32_t) + rejections_.capacity() * sizeof(RowVerdict);
  }

 private:
  static constexpr uint32_t kUnknown = 0;
  static constexpr uint32_t kPasses = 1;
  static constexpr uint32_t kFirstRejection = 2;  // Stands for rejections_[0].
  // The number of rejections among which an equal one is searched. The plugins of a layer rarely
  // have more different rejections.
  static constexpr size_t kSearched = 32;

  uint32_t Code(const RowVerdict& verdict) {
    const auto end =
        rejections_.begin() + static_cast<ptrdiff_t>(std::min(rejections_.size(), kSearched));
    auto found = std::find(rejections_.begin(), end, verdict);
    if (found == end) found = rejections_.insert(rejections_.end(), verdict);
    return kFirstRejection + static_cast<uint32_t>(found - rejections_.begin());
  }
  // Removes the rejections that no row has any more.
  void Compact() {
    const std::vector<RowVerdict> old = std::exchange(rejections_, {});
    for (uint32_t& code : by_row_) {
      if (code < kFirstRejection) continue;
      const RowVerdict& verdict = old[code - kFirstRejection];
      code = Code(verdict);
    }
  }

  const std::vector<uint32_t> plugins_;
  const Reuse reuse_;
  std::vector<uint32_t> by_row_;
  // The different rejections. One may be in it several times, so that the search for an equal one
  // is short.
  std::vector<RowVerdict> rejections_;
};

// --- the identity of a class ---------------------------------------------------------------------

const berth_dependence* DependenceAt(const PlannedPlugin& plugin, Point point) {
  return point == Point::kFilter ? plugin.instance->filter()->dependence
                                 : plugin.instance->score()->dependence;
}

namespace {

bool TakesPart(const Attempt& attempt, Point point, const PlannedUse& use) {
  return point == Point::kFilter ? !attempt.cycle(use.plugin).skip_filter : IsScored(attempt, use);
}

Reuse ReuseOf(const PlannedPlugin& plugin, Point point) {
  const berth_dependence* const dependence = DependenceAt(plugin, point);
  if (dependence == nullptr) return Reuse::kNever;
  const bool depends_on_row = (dependence->cluster & BERTH_DEPENDS_OTHER) == 0;
  if (point == Point::kScore) {
    // A function of the plugin normalizes the scores of all nodes together.
    return depends_on_row && !NormalizesItself(plugin) ? Reuse::kRow : Reuse::kNever;
  }
  if (depends_on_row) return Reuse::kRow;
  return dependence->changed != nullptr ? Reuse::kToken : Reuse::kNever;
}

// Most keys have no more words.
constexpr size_t kFewWords = 16;

}  // namespace

ClassKey::ClassKey(Attempt& attempt, Point point) {
  uint64_t parts = 0;
  const std::span<const PlannedUse> planned = attempt.plan().At(point);
  uses_.reserve(planned.size());
  words_.reserve(kFewWords);
  for (const PlannedUse& use : planned) {
    if (!TakesPart(attempt, point, use)) continue;
    PluginCycle& cycle = attempt.cycle(use.plugin);
    if (point == Point::kFilter && FiltersWhole(cycle.plugin())) break;
    Reuse reuse = ReuseOf(cycle.plugin(), point);
    if (reuse != Reuse::kNever && !AddSignature(cycle, point)) reuse = Reuse::kNever;
    if (reuse != Reuse::kNever) {
      parts |= DependenceAt(cycle.plugin(), point)->pod_parts;
      // A verdict names reasons by their numbers.
      for (const std::string& reason : cycle.added_reasons()) words_.push_back(HashBytes(reason));
    }
    uses_.push_back({use, reuse});
  }
  for (uint64_t left = parts; left != 0; left &= left - 1) {
    words_.push_back(attempt.pod()->part_hash(static_cast<uint32_t>(std::countr_zero(left))));
  }
  uint64_t hash = 0;
  for (const ClassUse& use : uses_) {
    hash = HashCombine(hash, uint64_t{use.use.plugin} << 8 | static_cast<uint64_t>(use.reuse));
  }
  for (const uint64_t word : words_) hash = HashCombine(hash, word);
  hash_ = static_cast<size_t>(hash);
}

bool ClassKey::AddSignature(PluginCycle& cycle, Point point) {
  const berth_dependence& dependence = *DependenceAt(cycle.plugin(), point);
  if (dependence.sign == nullptr) return true;
  berth_signature signature{};
  const PluginAnswer answer = Invoke(
      cycle, point,
      [&](auto& instance, auto* abi, berth_status*) {
        return dependence.sign(instance.self(), abi, &signature);
      },
      kCycleWord);
  if (!answer.ok()) {
    if (answer.code != BERTH_SKIP) NoteBadCode(cycle.plugin(), point, answer.code, "sign");
    return false;
  }
  words_.push_back(signature.low);
  words_.push_back(signature.high);
  return true;
}

bool ClassKey::CanReuse() const {
  return std::ranges::any_of(uses_, [](const ClassUse& use) { return use.reuse != Reuse::kNever; });
}

// --- the verdicts of a class ---------------------------------------------------------------------

namespace {

// The scores of a class are rebuilt if they have missed more changes than this.
constexpr size_t kChanges = 1024;
// If more rows than this enter or leave the feasible rows, these are collected anew.
constexpr size_t kFewRows = 32;

// Receives the rows that a plugin passes to berth_put_rows.
struct StaleRows {
  const NodeTable& table;
  VerdictLayer& layer;
  std::vector<Row>& rows;

  static void Put(void* to, const uint32_t* rows, uint64_t count) noexcept {
    auto& stale = *static_cast<StaleRows*>(to);
    for (const uint32_t row : std::span(rows, count)) {
      if (row >= stale.table.row_count() || !stale.table.IsLive(row)) continue;
      stale.layer.Forget(row);
      stale.rows.push_back(row);
    }
  }
};

// Asks the plugin of the layer which of its verdicts may differ. Returns BERTH_STALE_*.
uint32_t AskWhatChanged(Attempt& attempt, VerdictLayer& layer, std::vector<Row>& rows) {
  PluginCycle& cycle = attempt.cycle(layer.plugins().front());
  const berth_dependence& dependence = *DependenceAt(cycle.plugin(), Point::kFilter);
  StaleRows stale{attempt.table(), layer, rows};
  const bool has_verdicts = layer.token != 0;
  uint32_t result = BERTH_STALE_ALL;
  const PluginAnswer answer = Invoke(
      cycle, Point::kFilter,
      [&](auto& instance, auto* abi, berth_status*) -> berth_code {
        result = dependence.changed(instance.self(), abi, &layer.token, StaleRows::Put, &stale);
        return BERTH_SUCCESS;
      },
      kCycleWord);
  return answer.ok() && has_verdicts ? result : uint32_t{BERTH_STALE_ALL};
}

}  // namespace

PodClass::PodClass(const ClassKey& key, ClassMemory& memory)
    : key_(key), changes_(kChanges), memory_(memory) {
  std::vector<uint32_t> by_row;
  uint32_t position = 0;
  for (const ClassUse& use : key.uses()) {
    const uint32_t plugin = use.use.plugin;
    if (positions_.size() <= plugin) positions_.resize(plugin + 1);
    positions_[plugin] = position++;
    if (use.reuse == Reuse::kRow) by_row.push_back(plugin);
  }
  layers_.emplace_back(std::move(by_row), Reuse::kRow);
  for (const ClassUse& use : key.uses()) {
    if (use.reuse == Reuse::kRow) continue;
    layers_.emplace_back(std::vector<uint32_t>{use.use.plugin}, use.reuse);
  }
}

PodClass::~PodClass() = default;

// --- what is stale -------------------------------------------------------------------------------

void PodClass::ForgetChangedRows(const NodeTable& table) {
  for (VerdictLayer& layer : layers_) layer.Grow(table.row_count());
  is_feasible_.resize(table.row_count(), 0);
  table.RowsChangedSince(generation_, memory_.touched);
  generation_ = table.generation();
  touches_all_ = false;
  for (const Row row : memory_.touched) {
    for (VerdictLayer& layer : layers_) layer.Forget(row);
    changes_.Add(row);
  }
}

void PodClass::ForgetStaleRows(Attempt& attempt, VerdictLayer& layer) {
  if (layer.reuse() == Reuse::kRow) return;
  uint32_t stale = BERTH_STALE_ALL;
  if (layer.reuse() == Reuse::kToken) {
    stale = AskWhatChanged(attempt, layer, memory_.touched);
    SortUnique(memory_.touched);  // A plugin may pass rows whatever it returns.
  }
  if (stale == BERTH_STALE_NONE || stale == BERTH_STALE_ROWS) return;
  layer.ForgetAll();
  touches_all_ = true;
}

// --- evaluation ----------------------------------------------------------------------------------

PluginStatus PodClass::Refresh(Attempt& attempt) {
  ForgetChangedRows(attempt.table());
  FilterPass pass(attempt, memory_.rejected);
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    ForgetStaleRows(attempt, layers_[layer]);
    if (PluginStatus status = EvaluateLayer(attempt, pass, layer); !status.ok()) return status;
  }
  UpdateFeasible(attempt.table());
  return {};
}

bool PodClass::IsAsked(size_t layer, Row row) const {
  if (layer == 0) return true;
  const uint32_t position = positions_[layers_[layer].plugins().front()];
  for (size_t i = 0; i < layer; ++i) {
    if (!layers_[i].Rejects(row)) continue;
    if (positions_[layers_[i].RejectionOf(row).plugin] < position) return false;
  }
  return true;
}

bool PodClass::PassesAll(Row row) const {
  return std::ranges::all_of(layers_,
                             [row](const VerdictLayer& layer) { return layer.Passes(row); });
}

bool PodClass::HasExactErrors() const {
  const auto position = [this](uint32_t plugin) { return positions_[plugin]; };
  if (layers_.size() == 1 || layers_.front().plugins().empty()) return true;
  return position(layers_.front().plugins().back()) < position(layers_[1].plugins().front());
}

PluginStatus PodClass::EvaluateLayer(Attempt& attempt, FilterPass& pass, size_t layer) {
  const NodeTable& table = attempt.table();
  memory_.rows.clear();
  const auto add = [&](Row row) {
    if (layers_[layer].IsKnown(row) || !table.IsLive(row)) return;
    if (IsAsked(layer, row)) memory_.rows.push_back(row);
  };
  if (touches_all_) {
    attempt.live_rows().ForEachRow(add);
  } else {
    std::ranges::for_each(memory_.touched, add);
  }
  if (memory_.rows.empty()) return {};
  memory_.selected.AssignRows(table, memory_.rows);
  return layers_[layer].Evaluate(pass, memory_);
}

// --- what is feasible ----------------------------------------------------------------------------

void PodClass::UpdateFeasible(const NodeTable& table) {
  memory_.rows.clear();
  const auto update = [&](Row row) {
    const uint8_t passes = table.IsLive(row) && PassesAll(row) ? 1 : 0;
    if (std::exchange(is_feasible_[row], passes) == passes) return;
    memory_.rows.push_back(row);
    changes_.Add(row);
  };
  if (touches_all_) {
    for (Row row = 0; row < table.row_count(); ++row) update(row);
  } else {
    std::ranges::for_each(memory_.touched, update);
  }
  if (memory_.rows.size() > kFewRows) {
    return feasible_.Assign(table.row_count(), [this](Row row) { return is_feasible_[row]; });
  }
  for (const Row row : memory_.rows) {
    if (IsFeasible(row)) {
      feasible_.Insert(row, table.row_count());
    } else {
      feasible_.Erase(row);
    }
  }
}

// --- verdicts ------------------------------------------------------------------------------------

const RowVerdict* PodClass::FirstRejection(Row row) const {
  const RowVerdict* first = nullptr;
  for (const VerdictLayer& layer : layers_) {
    if (!layer.Rejects(row)) continue;
    const RowVerdict& verdict = layer.RejectionOf(row);
    if (first == nullptr || positions_[verdict.plugin] < positions_[first->plugin])
      first = &verdict;
  }
  return first;
}

void PodClass::AppendRejected(const Selection& live_rows,
                              std::vector<RejectedRow>& rejected) const {
  const size_t known = rejected.size();
  live_rows.ForEachRow([&](Row row) {
    const RowVerdict* const verdict = FirstRejection(row);
    if (verdict == nullptr) return;
    const auto before = std::span(rejected).first(known);
    if (std::ranges::binary_search(before, row, {}, &RejectedRow::row)) return;
    rejected.push_back({row, *verdict});
  });
}

size_t PodClass::bytes() const {
  size_t bytes = sizeof(PodClass) + key_.bytes() + is_feasible_.capacity() + feasible_.bytes() +
                 changes_.bytes();
  for (const VerdictLayer& layer : layers_) bytes += layer.bytes();
  return bytes;
}

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
