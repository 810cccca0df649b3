// The scores that are kept for one class of pods.
#ifndef BERTH_HOST_RUNTIME_REUSE_CLASS_SCORES_H_
#define BERTH_HOST_RUNTIME_REUSE_CLASS_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cache/node_table.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"
#include "host/runtime/attempt/totals_tree.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/reuse/pod_class.h"

namespace berth::host {

// The sums of the weighted scores of the plugins whose scores depend on the row alone, for the
// feasible rows of a PodClass. Refresh() scores the rows that changed since the last attempt with
// this key. If it changes the range of raw scores that a plugin's normalization depends on, it
// computes all sums again, without calling a plugin.
//
// Threading: the scheduling thread.
class ClassScores {
 public:
  // `memory`: used within calls only; must outlive the object.
  ClassScores(const ClassKey& key, ClassMemory& memory) : key_(key), memory_(memory) {}

  const ClassKey& key() const { return key_; }

  // Brings the sums up to date. REQUIRES: `owner` was refreshed in this attempt, and the pod of the
  // attempt has the key. Calls Score of plugins.
  // Returns: success; an error when a plugin failed or a score is outside 0..100; then the object
  //          must not be used any more.
  PluginStatus Refresh(Attempt& attempt, const PodClass& owner);

  // The sums by row; TotalsTree::kNone for rows that are not feasible.
  const TotalsTree& totals() const { return totals_; }

  size_t bytes() const;

 private:
  // A plugin whose normalized score depends on the raw scores of all feasible rows.
  struct Normalized {
    PlannedUse use;
    uint32_t mode;
    std::vector<int64_t> raw = {};  // By row; of feasible rows.
    // The range of the feasible rows, and the numbers of rows at its ends. While it is not known,
    // Add() and Remove() do nothing.
    bool is_range_known = false;
    ScoreRange range = {};
    uint32_t at_low = 0;
    uint32_t at_high = 0;

    void FindRange(const Selection& feasible);
    void Add(int64_t score);
    void Remove(int64_t score);
    // Returns what the normalization depends on.
    ScoreRange RelevantRange() const;
  };

  void Start(Attempt& attempt);
  // Finds the rows to score, ClassMemory::rows, and those that are not feasible any more, removed.
  void FindChangedRows(const PodClass& owner);
  void RemoveRow(Row row);
  PluginStatus ScoreChangedRows(Attempt& attempt);
  PluginStatus AddFixed(Attempt& attempt, const PlannedUse& use);
  PluginStatus AddNormalized(Attempt& attempt, Normalized& plugin);
  // Updates the ranges. Returns whether one that normalized scores depend on has changed.
  bool UpdateRanges(const PodClass& owner);
  // Computes the sums of the weighted scores of the rows, ClassMemory::sums.
  // Returns whether every normalized score is in 0..100.
  bool SumScores(std::span<const Row> rows);
  bool SetTotals(std::span<const Row> rows);
  bool SetAllTotals(const PodClass& owner);

  const ClassKey key_;
  bool is_started_ = false;
  std::vector<PlannedUse> fixed_;        // Plugins whose raw score is the normalized one.
  std::vector<Normalized> normalized_;   // The other plugins.
  std::vector<ScoreRange> used_ranges_;  // From which the totals were computed, by plugin.
  std::vector<int64_t> fixed_sums_;      // By row; of feasible rows.
  TotalsTree totals_;
  uint64_t last_change_ = 0;  // Of PodClass::changes().

  ClassMemory& memory_;
  bool is_rebuilt_ = false;  // Within Refresh(): all rows are scored.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_CLASS_SCORES_H_
