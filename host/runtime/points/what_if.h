// Runs Filters as if other pods were on nodes, or removed from them: on private rows, with cycle
// state of their own. Used for nominated pods and berth.whatif/1.
#ifndef BERTH_HOST_RUNTIME_POINTS_WHAT_IF_H_
#define BERTH_HOST_RUNTIME_POINTS_WHAT_IF_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/cache/node_table.h"
#include "host/queue/nominator.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/evaluation.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"
#include "host/runtime/points/run_filter.h"

namespace berth::host {

// One question about private rows. AddPod and RemovePod of the plugins change clones of their cycle
// state, which are made at the first change: one per row if the rows are apart, one for all rows if
// they are together. Filter reads the original state where nothing changed.
//
// A question may call a plugin once for each row. All questions of an attempt count one fault of a
// plugin at each point at most, so that a plugin is not quarantined because of one attempt.
//
// Threading: [cycle].
// Lifetime:  within one attempt, between PreFilter and the end of PostFilter. Pods that were added
//            must live as long.
class WhatIf {
 public:
  enum class Mode : uint8_t { kApart = BERTH_WHATIF_APART, kTogether = BERTH_WHATIF_TOGETHER };

  // `flags`: those that plugins get, BERTH_CYCLE_*.
  // REQUIRES: the rows are live and, if they are together, distinct.
  WhatIf(Attempt& attempt, std::span<const Row> rows, Mode mode = Mode::kApart,
         uint32_t flags = BERTH_CYCLE_WHAT_IF);
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  uint32_t size() const { return rows_.size(); }
  const Attempt& attempt() const { return attempt_; }

  // AddPod() adds a pod to row `i`, RemovePod() removes one; both call the plugins whose PreFilter
  // has AddPod and RemovePod and did not skip.
  // Returns: success; NotFound if the pod to remove is not on the row, which changes nothing; an
  //          error if a plugin cannot clone its state, or failed (`running AddPod on PreFilter
  //          plugin "X": ...`), which is then that of RunFilters() for the row.
  PluginStatus AddPod(uint32_t i, const berth_pod& pod);
  PluginStatus RemovePod(uint32_t i, const berth_pod& pod);

  // Runs all Filters on the selected rows and writes verdicts[i] for each selected i: Success, a
  // rejection, or, if the rows are apart, Error, which error(i) explains. `selected`: ascending.
  // Returns: success; the first error, if the rows are together.
  PluginStatus RunFilters(std::span<const uint32_t> selected, std::span<RowVerdict> verdicts);
  // Runs all Filters on each row with its nominated pods that count against the pod added, and then
  // without them; a row must pass both times. Nominated pods of other rows are not added. If rows
  // are together, a whole Filter is called for all selected rows both times, because its verdict of
  // a row may depend on the others. (kube-scheduler: RunFilterPluginsWithNominatedPods)
  PluginStatus RunFiltersWithNominated(const Nominator& nominator,
                                       std::span<const uint32_t> selected,
                                       std::span<RowVerdict> verdicts);
  // REQUIRES: the verdict of row `i` in the last run is Error.
  const PluginStatus& error(uint32_t i) const { return errors_.at(i); }

 private:
  struct Callee;

  // A copy of some rows, which have the same state.
  WhatIf(const WhatIf& from, std::span<const uint32_t> rows, uint32_t flags);
  void AddCallees(const WhatIf* from, uint32_t row);
  bool HasWholeFilter() const;
  // The number of the state that belongs to row `i`.
  uint32_t StateOf(uint32_t i) const { return mode_ == Mode::kApart ? i : 0; }
  PluginStatus NotifyPlugins(bool added, uint32_t i, const berth_pod& pod);
  PluginStatus NotifyPlugin(bool added, uint32_t i, const berth_pod& pod, Callee& callee);

  // The run over `survivors_`, which each step shortens.
  PluginStatus Run(std::span<const uint32_t> selected, std::span<RowVerdict> verdicts);
  // Sets verdicts[i] to that of row `i` with its nominated pods added.
  PluginStatus RunWithNominated(const Nominator& nominator, std::span<const uint32_t> selected,
                                uint32_t i, std::span<RowVerdict> verdicts);
  PluginStatus RunPlugin(uint32_t plugin, std::span<RowVerdict> verdicts);
  PluginStatus RunInBlocks(uint32_t plugin, std::span<RowVerdict> verdicts);
  PluginStatus RunBlock(uint32_t plugin, std::span<const uint32_t> indices,
                        std::span<RowVerdict> verdicts);
  PluginStatus RunWhole(uint32_t plugin, std::span<const uint32_t> indices,
                        std::span<RowVerdict> verdicts);
  PluginStatus Record(uint32_t plugin, uint32_t i, uint8_t code, uint64_t reasons,
                      std::span<RowVerdict> verdicts);
  // Records an error of some rows. Returns it if the rows are together.
  PluginStatus Fail(std::span<const uint32_t> indices, const PluginStatus& error,
                    std::span<RowVerdict> verdicts);

  Attempt& attempt_;
  const Mode mode_;
  const uint32_t flags_;
  PrivateRows rows_;
  std::vector<std::unique_ptr<Callee>> callees_;  // By plugin; null: it is not called.
  std::map<uint32_t, PluginStatus> broken_;       // By state: its AddPod or RemovePod failed.
  std::map<uint32_t, PluginStatus> errors_;       // By row, of the last run.
  std::vector<uint32_t> survivors_;
  std::vector<berth_column> columns_;
  WholeVerdicts whole_;
};

// Filters the candidates with nominated pods that count against the pod of the attempt, with those
// pods added: a WhatIf for each such row. Appends the rows that are rejected then to `rejected`,
// ascending. Returns: success; an error when a plugin failed.
//
// A nominated pod counts against another pod, which must leave room for it, if it has the same or a
// higher priority, and no scheduling gates. (kube-scheduler:
// pkg/scheduler/framework/runtime/framework.go, addGENominatedPods)
PluginStatus FilterNominated(Attempt& attempt, const Selection& candidates,
                             const Nominator& nominator, std::vector<RejectedRow>& rejected);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_WHAT_IF_H_
