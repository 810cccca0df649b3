// The result of Score: which of the feasible nodes are best.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_RANKED_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_RANKED_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/cache/node_table.h"
#include "host/runtime/attempt/filtered.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"
#include "host/runtime/attempt/totals_tree.h"

namespace berth::host {

// One plugin's scores, in the order of the feasible rows.
struct ScoreColumn {
  uint32_t plugin = kNoPlugin;
  int64_t weight = 1;
  std::vector<int64_t> raw;
  std::vector<int64_t> normalized;
};

// Lifetime: what it refers to belongs to the Evaluation, and is valid until the next call of its
//           Filter().
class Ranked {
 public:
  // A ranking of no rows.
  Ranked() = default;
  // Score failed, which fails the cycle.
  explicit Ranked(PluginStatus error) : status_(std::move(error)) {}
  // No plugin scores the rows: all are equally good.
  explicit Ranked(const Selection& feasible) : feasible_(&feasible), best_count_(feasible.size()) {}
  // `totals`: one for each row of `feasible`, at least one; in their order. `columns`: the scores
  // of each plugin, if they are kept for reports.
  Ranked(const Selection& feasible, std::span<const int64_t> totals,
         std::span<const ScoreColumn> columns);
  // `tree` has the totals of the rows of `feasible`.
  Ranked(const Selection& feasible, const TotalsTree& tree)
      : feasible_(&feasible), tree_(&tree), best_(tree.best()), best_count_(tree.best_count()) {}

  // Returns success, or the error of a plugin.
  const PluginStatus& status() const { return status_; }
  // Returns whether the rows have totals.
  bool is_scored() const { return tree_ != nullptr || !totals_.empty(); }
  uint32_t best_count() const { return best_count_; }
  // Returns the k-th row, from 0, of those that have the highest total, in row order.
  // REQUIRES: k < best_count().
  Row BestRow(uint32_t k) const;
  std::vector<Row> BestRows() const;
  // Returns the totals in the order of the feasible rows; none if the rows are not scored.
  std::vector<int64_t> Totals() const;
  // The scores of each plugin; empty if they are not kept.
  std::span<const ScoreColumn> columns() const { return columns_; }

 private:
  PluginStatus status_ = {};
  const Selection* feasible_ = &Selection::None();
  const TotalsTree* tree_ = nullptr;  // Null if there are no totals, or totals_ has them.
  std::span<const int64_t> totals_ = {};
  std::span<const ScoreColumn> columns_ = {};
  int64_t best_ = 0;  // The highest total.
  uint32_t best_count_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_RANKED_H_
