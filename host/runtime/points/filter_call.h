// One call of a Filter plugin, for a block or for all nodes, and the check of its verdicts.
#ifndef BERTH_HOST_RUNTIME_POINTS_FILTER_CALL_H_
#define BERTH_HOST_RUNTIME_POINTS_FILTER_CALL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/cache/node_table.h"
#include "host/runtime/attempt/nodes_view.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {

// The value of verdicts before a call. No plugin may give it, so that missing verdicts are found.
inline constexpr uint8_t kUnwrittenVerdict = 0xff;

// Returns whether the plugin's Filter is called once for all nodes: BERTH_FILTER_WHOLE.
bool FiltersWhole(const PlannedPlugin& plugin);

// Calls the plugin for a block. Returns an error if the call failed. The plugin gets a
// berth_filter_out of its own, because it may change the pointers. `codes` and `reasons` have an
// element for each index of the block.
// Threading: [block].
PluginStatus FilterBlock(PluginCycle& cycle, const berth_block& block, uint8_t* codes,
                         uint64_t* reasons);

// Returns whether `code` rejects a node: it is a valid verdict, but neither Success nor Error.
bool IsNodeRejection(uint8_t code);

// Returns the error for a verdict of a node that is neither Success nor a rejection, and counts a
// fault if it is not valid.
PluginStatus NodeFailed(const PluginCycle& cycle, std::string_view node, uint8_t code,
                        uint64_t reasons);

// Calls of whole Filters over some rows of a table; keeps the memory of the verdicts.
// Threading: the scheduling thread.
class WholeFilterCall {
 public:
  explicit WholeFilterCall(const NodeTable& table);

  // Calls the plugin for `rows`, which are those of `survivors`. Returns an error if the call
  // failed.
  PluginStatus Run(PluginCycle& cycle, const PassedNodes& survivors, std::span<const Row> rows);
  // The verdict of a row of the last call; kUnwrittenVerdict if the plugin did not write it.
  uint8_t code(Row row) const { return codes_[row]; }
  uint64_t reasons(Row row) const { return reasons_[row]; }

 private:
  std::vector<uint8_t> codes_;
  std::vector<uint64_t> reasons_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_FILTER_CALL_H_
