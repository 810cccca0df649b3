// The total scores of the feasible rows, and which of them are the highest.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_TOTALS_TREE_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_TOTALS_TREE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cache/node_table.h"

namespace berth::host {

// A tournament tree over rows: each inner node has the highest total below it and the number of
// rows that have it. It finds the k-th of the best rows, in row order, in O(log rows). A change of
// a row costs O(log rows).
//
// A node has kFanout children, so that the children of one node fill a few cache lines and the tree
// over a million rows has four levels.
//
// Threading: one thread.
class TotalsTree {
 public:
  // Stands for the total of a row that is not feasible. No total has this value.
  static constexpr int64_t kNone = INT64_MIN;
  static constexpr uint32_t kFanout = 64;

  // Replaces all totals: `totals[row]`, or kNone. Cost: O(rows).
  void Assign(std::span<const int64_t> totals);
  // Adds rows without a total at the end. Cost: O(rows).
  void Grow(uint32_t rows);
  // Sets the total of a row, or kNone. REQUIRES: row < row_count().
  void Set(Row row, int64_t total);

  uint32_t row_count() const { return static_cast<uint32_t>(totals_.size()); }
  std::span<const int64_t> totals() const { return totals_; }
  // The highest total, or kNone if no row has a total.
  int64_t best() const { return levels_.empty() ? kNone : levels_.back().front().best; }
  // The number of rows that have the highest total.
  uint32_t best_count() const { return levels_.empty() ? 0 : levels_.back().front().count; }
  // Returns the k-th row, from 0, of those that have the highest total, in row order.
  // REQUIRES: k < best_count().
  Row BestRow(uint32_t k) const;

  size_t bytes() const;

 private:
  struct Node {
    int64_t best = kNone;
    uint32_t count = 0;  // Rows with `best`; 0 if it is kNone.
  };

  static Node OfTotals(std::span<const int64_t> totals);
  static Node OfNodes(std::span<const Node> nodes);
  void BuildLevels();

  std::vector<int64_t> totals_;
  // levels_[0] is over the totals, each further level over the one before; the last has one node.
  // Empty if there are no rows.
  std::vector<std::vector<Node>> levels_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_TOTALS_TREE_H_
