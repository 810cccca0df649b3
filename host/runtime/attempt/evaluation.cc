#include "host/runtime/attempt/evaluation.h"

namespace berth::host {

Ranked::Ranked(const Selection& feasible, std::span<const int64_t> totals,
               std::span<const ScoreColumn> columns)
    : feasible_(&feasible),
      totals_(totals),
      columns_(columns),
      best_(*std::ranges::max_element(totals)),
      best_count_(static_cast<uint32_t>(std::ranges::count(totals, best_))) {}

Row Ranked::BestRow(uint32_t k) const {
  BERTH_ASSERT(k < best_count_);
  if (tree_ != nullptr) return tree_->BestRow(k);
  if (totals_.empty()) return feasible_->At(k);
  uint32_t i = 0;
  while (totals_[i] != best_ || k-- > 0) ++i;
  return feasible_->At(i);
}

std::vector<Row> Ranked::BestRows() const {
  std::vector<Row> rows;
  size_t i = 0;
  const std::vector<int64_t> totals = Totals();
  feasible_->ForEachRow([&](Row row) {
    if (totals.empty() || totals[i++] == best_) rows.push_back(row);
  });
  return rows;
}

std::vector<int64_t> Ranked::Totals() const {
  if (tree_ == nullptr) return {totals_.begin(), totals_.end()};
  std::vector<int64_t> totals;
  feasible_->ForEachRow([&](Row row) { totals.push_back(tree_->totals()[row]); });
  return totals;
}

}  // namespace berth::host
