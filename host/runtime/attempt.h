// One attempt to place one pod: all that the extension points say about it.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/cache/node_table.h"
#include "host/runtime/cycle_state.h"
#include "host/runtime/plan.h"
#include "host/runtime/plugin_cycle.h"
#include "host/runtime/plugin_status.h"
#include "host/runtime/selection.h"

namespace berth::host {

// Into Plan::plugins(): nobody rejected the row.
inline constexpr uint32_t kNoPlugin = UINT32_MAX;

// What Filter said of a row. Meaningful for rows that were evaluated and are not feasible.
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

// The working memory of an attempt, kept from pod to pod so that a cycle allocates next to nothing.
// The run_<point> functions fill it in, in the order of the points; cycle/ reads it.
//
// Threading: the scheduling thread.
class Attempt {
 public:
  Attempt(const Plan& plan, NodeTable& table);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // Forgets the last attempt and prepares the plugins' state for this one.
  void Begin(PodRef attempt_pod, uint64_t id);
  // Destroys the cycle state, unless somebody took it. What the attempt found stays readable until
  // the next Begin().
  void End();

  // Hands the cycle state on to the pod's binding. The attempt's plugins are still called with it,
  // so it must live until the last of them was asked. REQUIRES: between Begin() and End().
  std::unique_ptr<CycleState> TakeState();
  // The same while it is here. REQUIRES: as TakeState().
  const CycleState& state() const;
  // Takes the memory of such a state back, for a later attempt; what is in it is destroyed. `state`
  // may be null.
  void Recycle(std::unique_ptr<CycleState> state);

  PluginCycle& cycle(uint32_t plugin) { return *cycles_[plugin]; }
  const PluginCycle& cycle(uint32_t plugin) const { return *cycles_[plugin]; }
  const Plan& plan() const { return plan_; }
  NodeTable& table() const { return table_; }
  const Selection& live_rows() const { return live_rows_; }

  PodRef pod;

  // --- PreFilter ---
  // Plugins that named the only nodes that come into question; sorted names.
  std::vector<std::string> subset_plugins;
  // The rows that they agree on, ascending; none: all live rows.
  std::optional<std::vector<Row>> subset;
  // Names that they agree on and no node has, sorted. Nothing is filtered there, but such plugins
  // do agree on something. (kube-scheduler: PreFilterResult.Merge)
  std::vector<std::string> subset_unknown;
  // The rejection of the pod on all nodes at once.
  std::optional<PluginStatus> pre_filter_rejection;

  // --- Filter ---
  const Selection* candidates;  // What was evaluated; never null.
  Selection some_rows;          // What `candidates` points at when it is not all live rows.
  // By row. Of a row where other pods are nominated it may be what it would be with them.
  std::vector<RowVerdict> verdicts;
  Selection feasible;
  bool nominated_only = false;  // The pod's own nominated node passed, no other was looked at.

  // --- Score ---
  bool scored = false;
  std::vector<ScoreColumn> scores;  // score_count of them are in use.
  size_t score_count = 0;
  std::vector<int64_t> totals;  // In the order of the feasible rows.

  std::span<const ScoreColumn> score_columns() const {
    return std::span(scores).first(score_count);
  }

 private:
  void BeginState();
  void RefreshLiveRows();

  const Plan& plan_;
  NodeTable& table_;
  std::vector<std::unique_ptr<PluginCycle>> cycles_;
  std::unique_ptr<CycleState> state_;  // Null: between attempts, or taken.
  std::vector<std::unique_ptr<CycleState>> spare_states_;
  Selection live_rows_;
  uint64_t live_shape_ = UINT64_MAX;
  CallMonitor* monitor_ = nullptr;  // Null: nobody watches.
  uint32_t cancel_ = 0;             // BERTH_CANCELED. Set by the monitor while a call is late.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_H_
