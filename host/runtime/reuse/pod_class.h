// The answers of Filter and Score that are kept for one class of pods.
#ifndef BERTH_HOST_RUNTIME_REUSE_POD_CLASS_H_
#define BERTH_HOST_RUNTIME_REUSE_POD_CLASS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/cache/row_journal.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/points/filter_pass.h"
#include "host/runtime/reuse/class_key.h"
#include "host/runtime/reuse/class_memory.h"
#include "host/runtime/reuse/class_scores.h"
#include "host/runtime/reuse/verdict_layer.h"

namespace berth::host {

// The verdicts of all Filters for the pods of a class, and the feasible rows that follow from them.
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

  const ClassKey& key() const { return key_; }

  // Brings the verdicts up to date. REQUIRES: the pod of the attempt belongs to the class, and the
  // attempt considers all live rows.
  // Calls `changed` and Filter of plugins. Returns: success; an error when a plugin failed; then
  // the object must not be used any more.
  PluginStatus Refresh(Attempt& attempt);

  // The rows that pass all Filters, as of the last Refresh(). Valid until the next one.
  const Selection& feasible() const { return feasible_; }

  bool IsFeasible(Row row) const { return is_feasible_[row] != 0; }

  // Writes the verdict of every row that is not feasible to Attempt::verdicts: that of the first
  // plugin in the order of the profile which rejects it. REQUIRES: Refresh() in this attempt.
  void CollectVerdicts(Attempt& attempt) const;

  // Returns whether an error of Refresh() is also that of a pass over all nodes. It may not be if a
  // plugin that depends on a row alone stands behind one that depends on more: it is also asked
  // about rows that the other one rejects.
  bool HasExactErrors() const;
  // The generation of the node table at the last Refresh().
  uint64_t generation() const { return generation_; }

  // The rows that Refresh() found changed, or whose feasibility it changed, in order.
  const RowJournal& changes() const { return changes_; }
  // Returns the scores of the pods of this class that also have this key, and creates them if there
  // are none.
  ClassScores& ScoresFor(const ClassKey& key);

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
  void RebuildFeasible();

  const ClassKey key_;
  std::vector<VerdictLayer> layers_;  // The first one is Reuse::kRow; it may have no plugins.
  std::vector<uint32_t> positions_;   // In the profile, by index into Plan::plugins().
  std::vector<uint8_t> is_feasible_;  // By row.
  Selection feasible_;
  uint64_t generation_ = 0;  // That of the table at the last Refresh().
  RowJournal changes_;
  std::vector<std::unique_ptr<ClassScores>> scores_;

  ClassMemory& memory_;
  bool touches_all_ = false;  // Within Refresh(): any row may have another verdict.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_POD_CLASS_H_
