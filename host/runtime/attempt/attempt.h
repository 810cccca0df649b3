// One attempt to schedule a pod: the results of its extension points.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_ATTEMPT_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_ATTEMPT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/cache/node_table.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/cycle_state.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

class PointMeter;
class TotalsTree;

// Stands for no plugin where an index into Plan::plugins() is expected.
inline constexpr uint32_t kNoPlugin = UINT32_MAX;

// The verdict of Filter for a row. Meaningful for rows that are not feasible, if the attempt
// evaluated every node, or found none feasible. (An attempt that reuses answers of earlier attempts
// and finds a node does not collect the verdicts.)
struct RowVerdict {
  uint64_t reasons = 0;
  uint32_t plugin = kNoPlugin;
  uint8_t code = BERTH_SUCCESS;
};

// One plugin's scores, in the order of the feasible rows.
struct ScoreColumn {
  uint32_t plugin = kNoPlugin;
  int64_t weight = 1;
  std::vector<int64_t> raw;
  std::vector<int64_t> normalized;
};

// The working memory of an attempt, reused for every pod so that a cycle allocates almost nothing.
// The run_<point> functions fill it in, in the order of the points; host/cycle reads it.
//
// Threading: the scheduling thread.
class Attempt {
 public:
  Attempt(const Plan& plan, NodeTable& table);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // Clears the last attempt and constructs the plugins' cycle state for this one.
  void Begin(PodRef attempt_pod, uint64_t id);
  // Destroys the cycle state, unless it was taken. The results stay readable until the next
  // Begin().
  void End();

  // Transfers the cycle state to the pod's binding. Plugins are still called with it in this
  // attempt, so that it must live until the last of these calls. REQUIRES: between Begin() and
  // End().
  std::unique_ptr<CycleState> TakeState();
  // Returns the cycle state. REQUIRES: between Begin() and End(), and it was not taken.
  const CycleState& state() const;
  // Destroys the slots of a state that was taken, and keeps its memory for a later attempt. `state`
  // may be null.
  void Recycle(std::unique_ptr<CycleState> state);

  // Sets what observes the attempts from the next one on; null for none.
  void SetMeter(PointMeter* meter) { meter_ = meter; }
  PointMeter* meter() const { return meter_; }
  // Counts the plugins that were called since the last call. REQUIRES: there is a meter.
  void CountCalls();

  PluginCycle& cycle(uint32_t plugin) { return *cycles_[plugin]; }
  const PluginCycle& cycle(uint32_t plugin) const { return *cycles_[plugin]; }
  const Plan& plan() const { return plan_; }
  NodeTable& table() const { return table_; }
  const Selection& live_rows() const { return live_rows_; }
  // Returns the names of subset_plugins, sorted, for texts.
  std::vector<std::string> SubsetPluginNames() const;

  PodRef pod;

  // --- PreFilter ---
  // The plugins that restricted the pod to a subset of the nodes, in the order of their calls;
  // indices into Plan::plugins().
  std::vector<uint32_t> subset_plugins;
  // The rows that those plugins agree on, ascending; no value: all live rows.
  std::optional<std::vector<Row>> subset;
  // The node names that those plugins agree on and that no node has, sorted. No node is filtered
  // for them, but the intersection is not empty. (kube-scheduler: PreFilterResult.Merge)
  std::vector<std::string> subset_unknown;
  // The rejection of the pod on all nodes at once.
  std::optional<PluginStatus> pre_filter_rejection;

  // --- Filter ---
  const Selection* candidates;  // The rows to evaluate; never null.
  Selection some_rows;          // The target of `candidates` unless that is live_rows().
  // The verdicts, indexed by row. If a row has nominated pods, its verdict may be the one that was
  // computed with those pods added.
  std::vector<RowVerdict> verdicts;
  // The rows that passed; never null. A class of pods (pod_class.h) may own them.
  const Selection* feasible;
  Selection own_feasible;       // The target of `feasible` unless a class owns the rows.
  bool nominated_only = false;  // The pod's nominated node passed, and no other node was evaluated.

  // --- Score ---
  bool scored = false;
  // Whether RunScore() keeps the scores of each plugin, for reports; set before the attempt.
  // Otherwise only `totals` are kept, and `scores` is working memory for one plugin at a time.
  bool keeps_scores = false;
  std::vector<ScoreColumn> scores;  // score_count of them are in use.
  size_t score_count = 0;
  std::vector<int64_t> totals;  // One total for each feasible row, in the order of rows.
  // The totals of the feasible rows by row, if a class of pods owns them; then `totals` is empty.
  // Null otherwise.
  const TotalsTree* ranking = nullptr;

  // The scores that are kept.
  std::span<const ScoreColumn> score_columns() const {
    return std::span(scores).first(score_count);
  }

 private:
  void BeginState();
  void RefreshLiveRows();

  const Plan& plan_;
  NodeTable& table_;
  std::vector<std::unique_ptr<PluginCycle>> cycles_;
  std::unique_ptr<CycleState> state_;  // Null between attempts and after TakeState().
  std::vector<std::unique_ptr<CycleState>> spare_states_;
  Selection live_rows_;
  uint64_t live_generation_ = UINT64_MAX;
  PointMeter* meter_ = nullptr;
  CallMonitor* monitor_ = nullptr;  // Null: calls are not monitored.
  uint32_t cancel_ = 0;             // BERTH_IS_CANCELLED. Set by the monitor while a call is late.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_ATTEMPT_H_
