// One plugin within one attempt: what it is called with, the columns it sees, its reason table.
#ifndef BERTH_HOST_RUNTIME_PLUGIN_CYCLE_H_
#define BERTH_HOST_RUNTIME_PLUGIN_CYCLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/base/status.h"
#include "host/cache/node_table.h"
#include "host/cache/private_rows.h"
#include "host/runtime/cycle_state.h"
#include "host/runtime/plan.h"
#include "host/runtime/selection.h"

namespace berth::host {

class Attempt;

// Threading: the scheduling thread; BlockFor() from the thread that runs the block.
class PluginCycle {
 public:
  // `attempt` is what it belongs to, if anything.
  PluginCycle(const PlannedPlugin& plugin, NodeTable& table, Attempt* attempt = nullptr);
  PluginCycle(const PluginCycle&) = delete;
  PluginCycle& operator=(const PluginCycle&) = delete;

  // A new attempt for `pod`: the static columns, the constant reasons. `slots` are the plugin's
  // cycle state, constructed or cloned; they must outlive every call that gets abi().
  void Begin(uint64_t id, const berth_pod& pod, const uint32_t* cancel, const SlotSet& slots);
  // The same call again with other slots, as BERTH_CYCLE_WHAT_IF. Columns and reasons are those of
  // `original`, which must outlive it, and nothing is added to them.
  void BeginWhatIf(const PluginCycle& original, const SlotSet& slots);

  const berth_cycle* abi() const { return &abi_; }
  // What the next call of the plugin, at `point`, gets: abi(), with the deadline of that call.
  const berth_cycle* AbiFor(Point point);
  const PlannedPlugin& plugin() const { return plugin_; }
  // Null: it belongs to none.
  Attempt* attempt() const { return attempt_; }
  static PluginCycle* FromAbi(const berth_cycle* cycle);

  // berth.columns/1. Errors: Conflict outside PreFilter and PreScore; NotFound.
  Result<uint32_t> BindColumn(std::string_view name);
  void set_binding_allowed(bool allowed) { binding_allowed_ = allowed; }

  // The bit of a text added in PreFilter, or -1 when the table is full.
  int32_t AddReason(std::string_view text);
  // Every text of the mask, in the order of its bits.
  std::vector<std::string> ReasonTexts(uint64_t mask) const;
  std::string_view ReasonText(uint32_t bit) const;

  // The block for rows of the table as this plugin sees it. `columns` is scratch of the caller that
  // must outlive the block. `selected` may be empty of meaning: n_selected == count means all.
  berth_block BlockFor(Row first_row, uint32_t count, std::span<const uint32_t> selected,
                       std::vector<berth_column>& columns) const;
  // The same for private rows, all of them selected.
  berth_block BlockFor(PrivateRows& rows, std::vector<berth_column>& columns) const;

  bool skip_filter = false;
  bool skip_score = false;

 private:
  void AddColumn(ColumnIndex column);
  // Whose columns and reasons count.
  const PluginCycle& shared() const { return original_ != nullptr ? *original_ : *this; }

  const PlannedPlugin& plugin_;
  NodeTable& table_;
  Attempt* const attempt_;
  const PluginCycle* original_ = nullptr;  // Of a what-if.
  berth_cycle abi_{};
  std::vector<ColumnIndex> columns_;
  std::vector<berth_column> table_columns_;  // Row 0 of each.
  std::vector<std::string> added_reasons_;
  bool binding_allowed_ = false;
};

// All rows of a selection as the berth_nodes that PreFilter, PreScore and PostFilter get.
class NodesView {
 public:
  NodesView(const PluginCycle& cycle, const Selection& selection);
  NodesView(const NodesView&) = delete;
  NodesView& operator=(const NodesView&) = delete;

  const berth_nodes* abi() const { return &abi_; }

 private:
  static const berth_block* Block(const berth_nodes* self, uint32_t index) noexcept;

  const PluginCycle& cycle_;
  const Selection& selection_;
  berth_nodes abi_;
  berth_block block_{};
  std::vector<berth_column> columns_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_PLUGIN_CYCLE_H_
