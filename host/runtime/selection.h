// A set of rows, cut into blocks: what a block call is asked about.
#ifndef BERTH_HOST_RUNTIME_SELECTION_H_
#define BERTH_HOST_RUNTIME_SELECTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "host/cache/node_table.h"

namespace berth::host {

// Rows per block: five columns of eight bytes stay in the first-level cache.
inline constexpr uint32_t kBlockRows = 256;

// Ascending rows, block by block. Blocks without a selected row are left out.
class Selection {
 public:
  struct Block {
    Row first_row;
    uint32_t count;  // Rows in the block, selected or not.
    uint32_t begin;  // Into indices().
    uint32_t n_selected;
  };

  void Clear() {
    blocks_.clear();
    indices_.clear();
  }

  // Appends the selected indices of the block that starts at `first_row`. Called with ascending
  // first rows; an empty selection adds nothing.
  void Append(Row first_row, uint32_t count, std::span<const uint32_t> selected) {
    if (selected.empty()) return;
    blocks_.push_back({first_row, count, static_cast<uint32_t>(indices_.size()),
                       static_cast<uint32_t>(selected.size())});
    indices_.insert(indices_.end(), selected.begin(), selected.end());
  }

  // All rows of a table that are live.
  void AssignLive(const NodeTable& table);
  // The given rows, ascending, without repeats.
  void AssignRows(const NodeTable& table, std::span<const Row> rows);

  uint32_t size() const { return static_cast<uint32_t>(indices_.size()); }
  std::span<const Block> blocks() const { return blocks_; }
  std::span<const uint32_t> SelectedOf(const Block& block) const {
    return std::span(indices_).subspan(block.begin, block.n_selected);
  }
  // The k-th row. REQUIRES: k < size(). Costs O(log blocks).
  Row At(uint32_t k) const;
  bool Contains(Row row) const;

 private:
  std::vector<Block> blocks_;
  std::vector<uint32_t> indices_;  // Relative to their block's first row.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SELECTION_H_
