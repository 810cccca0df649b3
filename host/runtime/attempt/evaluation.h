// How the nodes are filtered and scored for the pods of a profile, and the results.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_EVALUATION_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_EVALUATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/base/assert.h"
#include "host/cache/node_table.h"
#include "host/queue/nominator.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// --- totals tree ---------------------------------------------------------------------------------
//
// The total scores of the feasible rows, and which of them are the highest.

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

// --- filtered ------------------------------------------------------------------------------------
//
// The result of Filter: which nodes can run the pod, and why the others cannot.

// Stands for no plugin where an index into Plan::plugins() is expected.
inline constexpr uint32_t kNoPlugin = UINT32_MAX;

// The verdict of the Filters for a row.
struct RowVerdict {
  uint64_t reasons = 0;
  uint32_t plugin = kNoPlugin;  // The first one that rejects the row.
  uint8_t code = BERTH_SUCCESS;

  bool operator==(const RowVerdict&) const = default;
};

// A row that is not feasible.
struct RejectedRow {
  Row row;
  // If the row has nominated pods, the verdict may be the one that was computed with those pods
  // added.
  RowVerdict verdict;
};

// Lifetime: what it refers to belongs to the Evaluation, and is valid until the next call of its
//           Filter().
struct Filtered {
  // Success; an error when a plugin failed, which fails the cycle. Then nothing else is meaningful.
  PluginStatus status = {};
  // The candidates that passed all Filters; never null.
  const Selection* feasible = &Selection::None();
  // The other candidates, in any order. An evaluation that reuses answers leaves them out if a row
  // is feasible.
  std::span<const RejectedRow> rejected = {};
  // The node that the pod is nominated to passed, and was the only candidate.
  bool nominated_only = false;

  // Returns the verdict of a rejected row, in O(rejected rows). REQUIRES: the row is in `rejected`.
  const RowVerdict& VerdictOf(Row row) const {
    const auto found = std::ranges::find(rejected, row, &RejectedRow::row);
    BERTH_ASSERT(found != rejected.end());
    return found->verdict;
  }
};

// --- ranked --------------------------------------------------------------------------------------
//
// The result of Score: which of the feasible nodes are best.

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

// --- evaluation ----------------------------------------------------------------------------------

// FreshEvaluation (points/fresh_evaluation.h) asks the plugins about every node. ReusedEvaluation
// (reuse/reused_evaluation.h) asks them only about nodes whose answers it does not have. Both find
// the same feasible nodes, verdicts, totals and best nodes.
//
// Threading: [cycle]; calls plugins under [cycle] and [block].
class Evaluation {
 public:
  Evaluation() = default;
  virtual ~Evaluation() = default;
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Finds the candidates that pass the Filters of the attempt. A candidate with nominated pods that
  // count against this pod (what_if.h) must also pass with those pods added, which is tried first;
  // a rejection then is the verdict of the row. Pods of other schedulers are not in the nominator.
  // REQUIRES: PreFilter ran in this attempt and did not reject the pod.
  // (kube-scheduler: pkg/scheduler/framework/runtime/framework.go,
  // RunFilterPluginsWithNominatedPods)
  virtual Filtered Filter(Attempt& attempt, const Selection& candidates,
                          const Nominator& nominator) = 0;

  // Scores the feasible rows with every Score plugin that did not skip, normalizes and weights the
  // scores, and adds them up.
  // REQUIRES: `filtered` is the last result of Filter() and has a feasible row; PreScore ran since.
  virtual Ranked Score(Attempt& attempt, const Filtered& filtered) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_EVALUATION_H_
