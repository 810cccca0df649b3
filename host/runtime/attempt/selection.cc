#include "host/runtime/attempt/selection.h"

#include "host/base/assert.h"

namespace berth::host {

void Selection::AssignRows(const NodeTable& table, std::span<const Row> rows) {
  Clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    BERTH_ASSERT(table.IsLive(rows[i]) && (i == 0 || rows[i - 1] < rows[i]));
  }
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
  const Block& block = *(std::ranges::upper_bound(blocks_, k, {}, &Block::rank) - 1);
  return block.first_row + SelectedOf(block)[k - block.rank];
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
    const bool is_last = block == blocks_.end();
    const auto stored = static_cast<uint32_t>(indices_.size());
    block = blocks_.insert(block, {.first_row = first,
                                   .count = kBlockRows,
                                   .n_selected = 0,
                                   .rank = is_last ? size() : block->rank,
                                   .begin = is_last ? stored : block->begin});
  }
  const std::span<const uint32_t> before = SelectedOf(*block);
  const auto at = std::ranges::lower_bound(before, row - first);
  const bool is_new = at == before.end() || *at != row - first;
  const uint32_t count = std::min(kBlockRows, table_rows - first);
  if (!is_new && count == block->count) return;
  std::array<uint32_t, kBlockRows> after;
  auto end = std::copy(before.begin(), at, after.begin());
  if (is_new) *end++ = row - first;
  end = std::copy(at, before.end(), end);
  Replace(block, count, std::span(after.begin(), end));
}

void Selection::Erase(Row row) {
  const Row first = row / kBlockRows * kBlockRows;
  const auto block = std::ranges::lower_bound(blocks_, first, {}, &Block::first_row);
  if (block == blocks_.end() || block->first_row != first) return;
  const std::span<const uint32_t> before = SelectedOf(*block);
  const auto at = std::ranges::lower_bound(before, row - first);
  if (at == before.end() || *at != row - first) return;
  std::array<uint32_t, kBlockRows> after;
  auto end = std::copy(before.begin(), at, after.begin());
  end = std::copy(at + 1, before.end(), end);
  Replace(block, block->count, std::span(after.begin(), end));
}

void Selection::Replace(std::vector<Block>::iterator block, uint32_t count,
                        std::span<const uint32_t> selected) {
  const uint32_t stored = block->is_whole() ? 0 : block->n_selected;
  const uint32_t n_before = block->n_selected;
  block->count = count;
  block->n_selected = static_cast<uint32_t>(selected.size());
  const std::span<const uint32_t> kept = block->is_whole() ? selected.first(0) : selected;
  const auto begin = indices_.begin() + block->begin;
  if (kept.size() > stored) {
    indices_.insert(begin + stored, kept.size() - stored, 0);
  } else {
    indices_.erase(begin + static_cast<ptrdiff_t>(kept.size()), begin + stored);
  }
  std::ranges::copy(kept, indices_.begin() + block->begin);
  const uint32_t more_rows = block->n_selected - n_before;  // Modulo 2^32.
  const auto more_stored = static_cast<uint32_t>(kept.size()) - stored;
  block = block->n_selected == 0 ? blocks_.erase(block) : block + 1;
  for (; block != blocks_.end(); ++block) {
    block->rank += more_rows;
    block->begin += more_stored;
  }
}

}  // namespace berth::host
