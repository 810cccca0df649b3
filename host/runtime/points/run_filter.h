// Filter: the calls of Filter plugins, and the check of their verdicts.
//
// The cycle filters through an Evaluation (attempt/evaluation.h), which runs a FilterPass over rows
// of the node table. A WhatIf (what_if.h) filters private rows.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_FILTER_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_FILTER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/cache/node_table.h"
#include "host/plan/instance_host.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/evaluation.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// --- the Filters of an attempt -------------------------------------------------------------------

// Returns whether the plugin's Filter is called once for all nodes: BERTH_FILTER_WHOLE.
bool FiltersWhole(const PlannedPlugin& plugin);
// Returns whether a Filter of the attempt is called once for all nodes.
bool HasWholeFilter(const Attempt& attempt);

// A whole Filter, and the Filters after it that are called block by block, until the next whole one
// follows.
struct FilterStage {
  uint32_t whole = kNoPlugin;  // Called first; kNoPlugin in the first stage of an attempt.
  std::vector<uint32_t> in_blocks = {};
};
// Returns the Filters of the attempt in the order of their calls: one stage or more.
std::vector<FilterStage> FilterStages(const Attempt& attempt);

// Returns an error if a Filter of the attempt is quarantined.
PluginStatus CheckFilters(const Attempt& attempt);

// While it exists, several passes over the Filters of an attempt count one fault of each plugin at
// most, together with the what-if questions of the attempt.
// Lifetime: the attempt must outlive it.
class FilterFaultLimits {
 public:
  explicit FilterFaultLimits(Attempt& attempt);

 private:
  std::deque<FaultLimit> limits_;
};

// --- one plugin ----------------------------------------------------------------------------------

// The value of verdicts before a call. No plugin may give it, so that missing verdicts are found.
inline constexpr uint8_t kUnwrittenVerdict = 0xff;

// The verdicts of one call for a block, by block index.
struct BlockVerdicts {
  alignas(64) std::array<uint8_t, kBlockRows> codes;
  alignas(64) std::array<uint64_t, kBlockRows> reasons;
};

// Calls the plugin for a block. Returns an error if the call failed. Threading: [block].
PluginStatus FilterBlock(PluginCycle& cycle, const berth_block& block, BlockVerdicts& verdicts);

// The verdicts of calls of whole Filters, by row of a table; kept from call to call.
struct WholeVerdicts {
  std::vector<uint8_t> codes;
  std::vector<uint64_t> reasons;
};

// Calls the plugin once for `rows`, which are those of `survivors`. Returns an error if the call
// failed. Threading: the scheduling thread.
PluginStatus FilterWhole(PluginCycle& cycle, const NodeTable& table, const PassedNodes& survivors,
                         std::span<const Row> rows, WholeVerdicts& verdicts);

// Returns the error for a verdict of a node that is neither Success nor a rejection, and counts a
// fault if it is not valid.
PluginStatus NodeFailed(const PluginCycle& cycle, std::string_view node, uint8_t code,
                        uint64_t reasons);

// --- all plugins ---------------------------------------------------------------------------------

// Runs Filters of one attempt over rows of the node table.
//
// Threading: [cycle]; calls plugins under [block].
// Lifetime:  the arguments of the constructor must outlive it.
class FilterPass {
 public:
  // Appends the rows that a plugin rejects to `rejected`.
  FilterPass(Attempt& attempt, std::vector<RejectedRow>& rejected)
      : attempt_(attempt), rejected_(rejected) {}
  FilterPass(const FilterPass&) = delete;
  FilterPass& operator=(const FilterPass&) = delete;

  // Runs the plugins over the rows of `from`, block by block; within a block plugin by plugin, each
  // over the rows that passed the previous one. Appends the rows that pass all of them to `passed`.
  // `plugins`: indices into Plan::plugins(). `excluded`: rows to leave out, ascending.
  // Returns: success; an error when a plugin failed.
  PluginStatus RunInBlocks(std::span<const uint32_t> plugins, const Selection& from,
                           std::span<const RejectedRow> excluded, Selection& passed);

  // Calls a whole Filter (BERTH_FILTER_WHOLE) once for all rows of `from`. Replaces `passed` by the
  // rows that pass. Returns: success; an error when the plugin failed.
  PluginStatus RunWhole(uint32_t plugin, const Selection& from, Selection& passed);

  // Runs stages that begin with a whole Filter, until no row is left. Replaces `rows`, which passed
  // the Filters before them, by the rows that pass.
  // Returns: success; an error when a plugin failed.
  PluginStatus RunStages(std::span<const FilterStage> stages, Selection& rows);

 private:
  PluginStatus RunBlock(std::span<const uint32_t> plugins, const Selection::Block& block,
                        std::span<const uint32_t> selected, std::span<const RejectedRow> excluded);
  PluginStatus RunPlugin(uint32_t plugin, const Selection::Block& block);
  bool AllPassed() const;
  PluginStatus RemoveRejected(uint32_t plugin, Row first_row);
  PluginStatus Reject(uint32_t plugin, Row row, uint8_t code, uint64_t reasons);

  Attempt& attempt_;
  std::vector<RejectedRow>& rejected_;
  // The rows of the current block that passed so far, as block indices.
  std::array<uint32_t, kBlockRows> survivors_;
  uint32_t n_ = 0;
  BlockVerdicts verdicts_;  // The answer of one plugin.
  std::vector<berth_column> columns_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_FILTER_H_
