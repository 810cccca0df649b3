// Classes of pods, and the verdicts of Filters and the scores that are kept for one class.
//
// Two pods are in one class if everything that the answers of the plugins depend on is equal: the
// parts of the pod that the plugins declare (berth_dependence.pod_parts), their signatures, and
// which plugins take part.
#ifndef BERTH_HOST_RUNTIME_REUSE_POD_CLASS_H_
#define BERTH_HOST_RUNTIME_REUSE_POD_CLASS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cache/node_table.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/evaluation.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/reuse/reuse_check.h"

namespace berth::host {

class FilterPass;
class VerdictLayer;

// Returns the dependence that the plugin declares at Filter or Score; null if it declares none.
const berth_dependence* DependenceAt(const PlannedPlugin& plugin, Point point);

// How long an answer of a plugin for a class and a node stays valid.
enum class Reuse : uint8_t {
  kNever,  // For one cycle.
  kRow,    // Until the row changes: it depends on the node and its pods alone.
  kToken,  // Until the row changes, or `changed` of the plugin names it. Only verdicts.
};

// A plugin that takes part at Filter or Score in one attempt.
struct ClassUse {
  PlannedUse use;
  Reuse reuse;

  bool operator==(const ClassUse& other) const {
    return use.plugin == other.use.plugin && reuse == other.reuse;
  }
};

// The identity of a class at one extension point. Keys are compared word by word, so that two
// classes are mixed up only if two keyed hashes of 64 bits are equal.
class ClassKey {
 public:
  // Makes the key of Filter after PreFilter, or the key of Score after PreScore. Calls `sign` of
  // the plugins that have it. At Filter, the plugins before the first whole Filter take part: the
  // others see what it leaves. REQUIRES: `point` is Point::kFilter or Point::kScore.
  ClassKey(Attempt& attempt, Point point);

  // The plugins that take part, in the order of the profile.
  const std::vector<ClassUse>& uses() const { return uses_; }
  // Returns whether answers of at least one plugin can be reused.
  bool CanReuse() const;
  size_t hash() const { return hash_; }
  bool operator==(const ClassKey& other) const {
    return words_ == other.words_ && uses_ == other.uses_;
  }
  size_t bytes() const {
    return words_.capacity() * sizeof(uint64_t) + uses_.capacity() * sizeof(ClassUse);
  }

 private:
  // Appends the signature of the plugin, if it has one. Returns false if the plugin has none for
  // this attempt: its answers are not reused.
  bool AddSignature(PluginCycle& cycle, Point point);

  std::vector<ClassUse> uses_;
  // The signatures and the hashes of added reasons, in the order of the plugins; then the hashes of
  // the parts.
  std::vector<uint64_t> words_;
  size_t hash_ = 0;
};

// Memory that all classes share while one of them is brought up to date. Its contents mean nothing
// outside of a call of PodClass or ClassScores.
struct ClassMemory {
  std::vector<Row> touched;           // Rows that may have another verdict than before, ascending.
  std::vector<Row> rows;              // The rows that the current step is about, ascending.
  std::vector<Row> removed;           // Rows that are not feasible any more.
  Selection selected;                 // `rows`, as the argument of a call.
  Selection passed;                   // The rows of `selected` that pass.
  std::vector<RejectedRow> rejected;  // The rows of `selected` that do not pass.
  std::vector<int64_t> raw;           // Scores of `rows` by one plugin.
  std::vector<int64_t> sums;          // Sums of the scores of `rows`.
  std::vector<int64_t> by_row;        // Totals of all rows of the table.
};

// The verdicts of the Filters of a key for the pods of a class, and the feasible rows that follow.
// Refresh() brings them up to date: it evaluates the rows that changed since the last attempt of
// the class, and those that a plugin names.
//
// The Filters that depend on a row alone form the first layer. A Filter that depends on more has a
// layer of its own, and is asked only about rows that no Filter before it in the profile rejects.
// A row is feasible if it passes all layers.
//
// Threading: the scheduling thread.
class PodClass {
 public:
  // `memory`: used within calls only; must outlive the object.
  PodClass(const ClassKey& key, ClassMemory& memory);
  ~PodClass();
  PodClass(const PodClass&) = delete;
  PodClass& operator=(const PodClass&) = delete;

  const ClassKey& key() const { return key_; }

  // Brings the verdicts up to date. REQUIRES: the pod of the attempt belongs to the class, and the
  // attempt considers all live rows.
  // Calls `changed` and Filter of plugins. Returns: success; an error when a plugin failed; then
  // the object must not be used any more.
  PluginStatus Refresh(Attempt& attempt);

  // The rows that pass all Filters, as of the last Refresh(). Valid until the next one.
  const Selection& feasible() const { return feasible_; }

  bool IsFeasible(Row row) const { return is_feasible_[row] != 0; }

  // Appends the live rows that are not feasible, with the verdict of the first plugin in the order
  // of the profile which rejects the row; except those that are in `rejected` before, ascending.
  // REQUIRES: Refresh() in this attempt.
  void AppendRejected(const Selection& live_rows, std::vector<RejectedRow>& rejected) const;

  // Returns whether an error of Refresh() is also that of a pass over all nodes. It may not be if a
  // plugin that depends on a row alone stands behind one that depends on more: it is also asked
  // about rows that the other one rejects.
  bool HasExactErrors() const;
  // The generation of the node table at the last Refresh().
  uint64_t generation() const { return generation_; }

  // The rows that Refresh() found changed, or whose feasibility it changed, in order.
  const RowJournal& changes() const { return changes_; }
  size_t bytes() const;

 private:
  // Returns whether the plugin of the layer is asked about the row in a pass over all nodes: no
  // plugin before it in the profile rejects the row, as far as the layers before it show.
  bool IsAsked(size_t layer, Row row) const;
  bool PassesAll(Row row) const;
  void ForgetChangedRows(const NodeTable& table);
  // Forgets the verdicts of a layer that may differ for another reason than a change of the row.
  void ForgetStaleRows(Attempt& attempt, VerdictLayer& layer);
  PluginStatus EvaluateLayer(Attempt& attempt, FilterPass& pass, size_t layer);
  // Returns the rejection of the row by the first plugin in the order of the profile; null if there
  // is none.
  const RowVerdict* FirstRejection(Row row) const;
  void UpdateFeasible(const NodeTable& table);

  const ClassKey key_;
  std::vector<VerdictLayer> layers_;  // The first one is Reuse::kRow; it may have no plugins.
  std::vector<uint32_t> positions_;   // In the profile, by index into Plan::plugins().
  std::vector<uint8_t> is_feasible_;  // By row.
  Selection feasible_;
  uint64_t generation_ = 0;  // That of the table at the last Refresh().
  RowJournal changes_;

  ClassMemory& memory_;
  bool touches_all_ = false;  // Within Refresh(): any row may have another verdict.
};

// --- scores of a class ---------------------------------------------------------------------------
//
// The scores that are kept for one class of pods.

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

  // For ReuseOptions::is_checked.
  LastChecked last_checked;

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

#endif  // BERTH_HOST_RUNTIME_REUSE_POD_CLASS_H_
