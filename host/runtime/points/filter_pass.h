// The calls of Filter plugins for rows of the node table.
#ifndef BERTH_HOST_RUNTIME_POINTS_FILTER_PASS_H_
#define BERTH_HOST_RUNTIME_POINTS_FILTER_PASS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// Runs Filters of one attempt over rows. Fills in Attempt::verdicts of the rows that a plugin
// rejects.
//
// Threading: [cycle]; calls plugins under [block].
// Lifetime:  the attempt must outlive it.
class FilterPass {
 public:
  explicit FilterPass(Attempt& attempt) : attempt_(attempt) {}
  FilterPass(const FilterPass&) = delete;
  FilterPass& operator=(const FilterPass&) = delete;

  // Runs the plugins over the rows of `from`, block by block; within a block plugin by plugin, each
  // over the rows that passed the previous one. Appends the rows that pass all of them to `passed`.
  // `plugins`: indices into Plan::plugins(). `excluded`: rows to leave out, ascending.
  // Returns: success; an error when a plugin failed.
  PluginStatus RunInBlocks(std::span<const uint32_t> plugins, const Selection& from,
                           std::span<const Row> excluded, Selection& passed);

  // Calls a whole Filter (BERTH_FILTER_WHOLE) once for all rows of `from`. Replaces `passed` by the
  // rows that pass. Returns: success; an error when the plugin failed.
  PluginStatus RunWhole(uint32_t plugin, const Selection& from, Selection& passed);

 private:
  PluginStatus RunBlock(std::span<const uint32_t> plugins, const Selection::Block& block,
                        std::span<const uint32_t> selected, std::span<const Row> excluded);
  PluginStatus RunPlugin(uint32_t plugin, const Selection::Block& block);
  bool AllPassed() const;
  PluginStatus RemoveRejected(uint32_t plugin, Row first_row);
  PluginStatus Reject(uint32_t plugin, Row row, uint8_t code, uint64_t reasons);

  Attempt& attempt_;
  // The rows of the current block that passed so far, as block indices.
  std::array<uint32_t, kBlockRows> survivors_;
  uint32_t n_ = 0;
  // The verdicts of one plugin, by block index.
  alignas(64) std::array<uint8_t, kBlockRows> codes_;
  alignas(64) std::array<uint64_t, kBlockRows> reasons_;
  std::vector<berth_column> columns_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_FILTER_PASS_H_
