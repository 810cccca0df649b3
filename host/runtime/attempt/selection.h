// A set of rows in blocks: the arguments of block calls.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_SELECTION_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_SELECTION_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cache/node_table.h"

namespace berth::host {

// Rows per block. Five columns of eight bytes fit into the first-level cache.
inline constexpr uint32_t kBlockRows = 256;

// A set of ascending rows, by block. Blocks without a selected row are left out. A block of which
// all rows are selected, as most are in most clusters, needs no memory for them.
class Selection {
 public:
  struct Block {
    Row first_row;
    uint32_t count;  // Rows in the block, selected or not.
    uint32_t n_selected;
    uint32_t rank;   // The number of selected rows in the blocks before it.
    uint32_t begin;  // Where its indices are, or would be if not all of its rows were selected.

    bool is_whole() const { return n_selected == count; }
  };

  // Returns a selection without rows.
  static const Selection& None() {
    static const Selection kNone;
    return kNone;
  }

  void Clear() {
    blocks_.clear();
    indices_.clear();
  }

  // Appends a block that starts at `first_row`, with its selected indices. Adds nothing if there
  // are none. REQUIRES: first rows ascend from call to call; `selected` is ascending and below
  // `count`, which is at most kBlockRows.
  void Append(Row first_row, uint32_t count, std::span<const uint32_t> selected) {
    if (selected.empty()) return;
    blocks_.push_back({.first_row = first_row,
                       .count = count,
                       .n_selected = static_cast<uint32_t>(selected.size()),
                       .rank = size(),
                       .begin = static_cast<uint32_t>(indices_.size())});
    if (blocks_.back().is_whole()) return;
    indices_.insert(indices_.end(), selected.begin(), selected.end());
  }

  // Selects the rows below `rows` for which is_selected(row) returns 1, and not those for which it
  // returns 0.
  template <class IsSelected>
  void Assign(uint32_t rows, IsSelected is_selected) {
    Clear();
    std::array<uint32_t, kBlockRows> selected;
    for (Row first = 0; first < rows; first += kBlockRows) {
      const uint32_t count = std::min(kBlockRows, rows - first);
      uint32_t n = 0;
      for (uint32_t i = 0; i < count; ++i) {
        selected[n] = i;
        n += is_selected(first + i);
      }
      Append(first, count, std::span(selected).first(n));
    }
  }
  // Selects all live rows of a table.
  void AssignLive(const NodeTable& table) {
    Assign(table.row_count(), [&table](Row row) { return table.IsLive(row); });
  }
  // Selects the given rows. REQUIRES: `rows` is ascending, without duplicates.
  void AssignRows(const NodeTable& table, std::span<const Row> rows);

  uint32_t size() const {
    return blocks_.empty() ? 0 : blocks_.back().rank + blocks_.back().n_selected;
  }
  std::span<const Block> blocks() const { return blocks_; }
  // Lifetime: the result is valid until the selection changes.
  std::span<const uint32_t> SelectedOf(const Block& block) const {
    if (block.is_whole()) return std::span(kAllIndices).first(block.count);
    return std::span(indices_).subspan(block.begin, block.n_selected);
  }
  // Returns the k-th row in O(log blocks). REQUIRES: k < size().
  Row At(uint32_t k) const;
  bool Contains(Row row) const;
  // Calls each(row) for every row, ascending.
  template <class Each>
  void ForEachRow(Each&& each) const {
    for (const Block& block : blocks_) {
      for (const uint32_t index : SelectedOf(block)) each(block.first_row + index);
    }
  }

  // Returns all rows, ascending.
  std::vector<Row> Rows() const {
    std::vector<Row> rows;
    rows.reserve(size());
    ForEachRow([&rows](Row row) { rows.push_back(row); });
    return rows;
  }

  // Adds a row, or removes it. Does nothing if the row is selected already, or is not.
  // Cost: O(blocks + kBlockRows), and a move of the indices of the blocks after it.
  // `table_rows`: the table's row count, which never decreases.
  void Insert(Row row, uint32_t table_rows);
  void Erase(Row row);
  size_t bytes() const {
    return blocks_.capacity() * sizeof(Block) + indices_.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr auto kAllIndices = [] {
    std::array<uint32_t, kBlockRows> indices{};
    for (uint32_t i = 0; i < kBlockRows; ++i) indices[i] = i;
    return indices;
  }();

  // Replaces the selected indices of the block, which may become none, and its count.
  void Replace(std::vector<Block>::iterator block, uint32_t count,
               std::span<const uint32_t> selected);

  std::vector<Block> blocks_;
  // Row numbers, relative to the first row of the block; of blocks that are not whole.
  std::vector<uint32_t> indices_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_SELECTION_H_
