#include "host/runtime/selection.h"

#include <algorithm>
#include <array>

#include "host/base/assert.h"

namespace berth::host {

void Selection::AssignLive(const NodeTable& table) {
  Clear();
  std::array<uint32_t, kBlockRows> selected;
  for (Row first = 0; first < table.row_count(); first += kBlockRows) {
    const uint32_t count = std::min(kBlockRows, table.row_count() - first);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i) {
      selected[n] = i;
      n += table.IsLive(first + i);
    }
    Append(first, count, std::span(selected).first(n));
  }
}

void Selection::AssignRows(const NodeTable& table, std::span<const Row> rows) {
  Clear();
  for (const Row row : rows) BERTH_ASSERT(table.IsLive(row));
  std::array<uint32_t, kBlockRows> selected;
  size_t next = 0;
  while (next < rows.size()) {
    const Row first = rows[next] / kBlockRows * kBlockRows;
    uint32_t n = 0;
    for (; next < rows.size() && rows[next] < first + kBlockRows; ++next) {
      selected[n++] = rows[next] - first;
    }
    Append(first, std::min(kBlockRows, table.row_count() - first), std::span(selected).first(n));
  }
}

Row Selection::At(uint32_t k) const {
  BERTH_ASSERT(k < size());
  const auto after = std::ranges::upper_bound(blocks_, k, {}, &Block::begin);
  return (after - 1)->first_row + indices_[k];
}

bool Selection::Contains(Row row) const {
  const Row first = row / kBlockRows * kBlockRows;
  const auto block = std::ranges::lower_bound(blocks_, first, {}, &Block::first_row);
  if (block == blocks_.end() || block->first_row != first) return false;
  return std::ranges::binary_search(SelectedOf(*block), row - first);
}

void Selection::Insert(Row row, uint32_t table_rows) {
  const Row first = row / kBlockRows * kBlockRows;
  auto block = std::ranges::lower_bound(blocks_, first, {}, &Block::first_row);
  if (block == blocks_.end() || block->first_row != first) {
    const uint32_t begin = block == blocks_.end() ? size() : block->begin;
    block = blocks_.insert(block, {first, 0, begin, 0});
  }
  block->count = std::min(kBlockRows, table_rows - first);
  const auto begin = indices_.begin() + block->begin;
  const auto at = std::lower_bound(begin, begin + block->n_selected, row - first);
  if (at != begin + block->n_selected && *at == row - first) return;
  indices_.insert(at, row - first);
  ++block->n_selected;
  for (++block; block != blocks_.end(); ++block) ++block->begin;
}

void Selection::Erase(Row row) {
  const Row first = row / kBlockRows * kBlockRows;
  auto block = std::ranges::lower_bound(blocks_, first, {}, &Block::first_row);
  if (block == blocks_.end() || block->first_row != first) return;
  const auto begin = indices_.begin() + block->begin;
  const auto at = std::lower_bound(begin, begin + block->n_selected, row - first);
  if (at == begin + block->n_selected || *at != row - first) return;
  indices_.erase(at);
  block = --block->n_selected == 0 ? blocks_.erase(block) : block + 1;
  for (; block != blocks_.end(); ++block) --block->begin;
}

}  // namespace berth::host
