#include "host/runtime/reuse/pod_class.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "host/base/assert.h"
#include "host/base/sorted_vector.h"
#include "host/runtime/attempt/invoke.h"

namespace berth::host {
namespace {

// The scores of a class are rebuilt if they have missed more changes than this.
constexpr size_t kChanges = 1024;
// Pods with equal answers of Filter seldom differ in what Score depends on.
constexpr size_t kMaxScores = 4;
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
  FilterPass pass(attempt);
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
  return layers_[layer].Evaluate(attempt, pass, memory_.selected, memory_.passed);
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
  if (memory_.rows.size() > kFewRows) return RebuildFeasible();
  for (const Row row : memory_.rows) {
    if (IsFeasible(row)) {
      feasible_.Insert(row, table.row_count());
    } else {
      feasible_.Erase(row);
    }
  }
}

void PodClass::RebuildFeasible() {
  feasible_.Clear();
  const auto rows = static_cast<Row>(is_feasible_.size());
  std::array<uint32_t, kBlockRows> selected;
  for (Row first = 0; first < rows; first += kBlockRows) {
    const uint32_t count = std::min(kBlockRows, rows - first);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i) {
      selected[n] = i;
      n += is_feasible_[first + i];
    }
    feasible_.Append(first, count, std::span(selected).first(n));
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

void PodClass::CollectVerdicts(Attempt& attempt) const {
  attempt.live_rows().ForEachRow([&](Row row) {
    if (const RowVerdict* const verdict = FirstRejection(row)) attempt.verdicts[row] = *verdict;
  });
}

// --- scores --------------------------------------------------------------------------------------

ClassScores& PodClass::ScoresFor(const ClassKey& key) {
  const auto found =
      std::ranges::find_if(scores_, [&key](const auto& scores) { return scores->key() == key; });
  if (found != scores_.end()) {
    std::rotate(scores_.begin(), found, found + 1);
  } else {
    if (scores_.size() == kMaxScores) scores_.pop_back();
    scores_.insert(scores_.begin(), std::make_unique<ClassScores>(key, memory_));
  }
  return *scores_.front();
}

size_t PodClass::bytes() const {
  size_t bytes = sizeof(PodClass) + key_.bytes() + is_feasible_.capacity() + feasible_.bytes() +
                 changes_.bytes();
  for (const VerdictLayer& layer : layers_) bytes += layer.bytes();
  for (const auto& scores : scores_) bytes += scores->bytes();
  return bytes;
}

}  // namespace berth::host
