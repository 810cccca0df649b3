#include "host/runtime/attempt/evaluation.h"

namespace berth::host {
namespace {

constexpr size_t kFanout = TotalsTree::kFanout;

size_t NodesOver(size_t children) { return (children + kFanout - 1) / kFanout; }

// Returns the children of node `index`.
template <class T>
std::span<const T> ChildrenOf(const std::vector<T>& children, size_t index) {
  const size_t first = index * kFanout;
  return std::span(children).subspan(first, std::min(kFanout, children.size() - first));
}

}  // namespace

TotalsTree::Node TotalsTree::OfTotals(std::span<const int64_t> totals) {
  Node node;
  for (const int64_t total : totals) node.best = std::max(node.best, total);
  if (node.best == kNone) return node;
  for (const int64_t total : totals) node.count += total == node.best ? 1 : 0;
  return node;
}

TotalsTree::Node TotalsTree::OfNodes(std::span<const Node> nodes) {
  Node node;
  for (const Node& child : nodes) node.best = std::max(node.best, child.best);
  for (const Node& child : nodes) node.count += child.best == node.best ? child.count : 0;
  return node;
}

void TotalsTree::BuildLevels() {
  levels_.clear();
  if (totals_.empty()) return;
  std::vector<Node>& first = levels_.emplace_back(NodesOver(totals_.size()));
  for (size_t i = 0; i < first.size(); ++i) first[i] = OfTotals(ChildrenOf(totals_, i));
  while (levels_.back().size() > 1) {
    const std::vector<Node>& below = levels_.back();
    std::vector<Node> level(NodesOver(below.size()));
    for (size_t i = 0; i < level.size(); ++i) level[i] = OfNodes(ChildrenOf(below, i));
    levels_.push_back(std::move(level));
  }
}

void TotalsTree::Assign(std::span<const int64_t> totals) {
  totals_.assign(totals.begin(), totals.end());
  BuildLevels();
}

void TotalsTree::Grow(uint32_t rows) {
  BERTH_ASSERT(rows >= row_count());
  totals_.resize(rows, kNone);
  BuildLevels();
}

void TotalsTree::Set(Row row, int64_t total) {
  BERTH_ASSERT(row < row_count());
  totals_[row] = total;
  size_t index = row / kFanout;
  levels_.front()[index] = OfTotals(ChildrenOf(totals_, index));
  for (size_t level = 1; level < levels_.size(); ++level) {
    index /= kFanout;
    levels_[level][index] = OfNodes(ChildrenOf(levels_[level - 1], index));
  }
}

Row TotalsTree::BestRow(uint32_t k) const {
  BERTH_ASSERT(k < best_count());
  const int64_t best = this->best();
  size_t index = 0;
  for (size_t level = levels_.size() - 1; level > 0; --level) {
    index *= kFanout;
    for (const Node* node = &levels_[level - 1][index];; ++node, ++index) {
      if (node->best != best) continue;
      if (k < node->count) break;
      k -= node->count;
    }
  }
  auto row = static_cast<Row>(index * kFanout);
  for (;; ++row) {
    if (totals_[row] == best && k-- == 0) return row;
  }
}

size_t TotalsTree::bytes() const {
  size_t bytes = totals_.capacity() * sizeof(int64_t);
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

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
