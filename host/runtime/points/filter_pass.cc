#include "host/runtime/points/filter_pass.h"

#include <algorithm>
#include <cstring>

#include "host/runtime/attempt/nodes_view.h"
#include "host/runtime/points/filter_call.h"

namespace berth::host {

PluginStatus FilterPass::RunInBlocks(std::span<const uint32_t> plugins, const Selection& from,
                                     std::span<const Row> excluded, Selection& passed) {
  for (const Selection::Block& block : from.blocks()) {
    PluginStatus status = RunBlock(plugins, block, from.SelectedOf(block), excluded);
    if (!status.ok()) return status;
    passed.Append(block.first_row, block.count, std::span(survivors_).first(n_));
  }
  return {};
}

PluginStatus FilterPass::RunBlock(std::span<const uint32_t> plugins, const Selection::Block& block,
                                  std::span<const uint32_t> selected,
                                  std::span<const Row> excluded) {
  std::ranges::copy(selected, survivors_.begin());
  n_ = block.n_selected;
  if (!excluded.empty()) {
    const auto is_excluded = [&](uint32_t index) {
      return std::ranges::binary_search(excluded, block.first_row + index);
    };
    const auto end = std::remove_if(survivors_.begin(), survivors_.begin() + n_, is_excluded);
    n_ = static_cast<uint32_t>(end - survivors_.begin());
  }
  for (const uint32_t plugin : plugins) {
    if (n_ == 0) return {};
    if (PluginStatus status = RunPlugin(plugin, block); !status.ok()) return status;
  }
  return {};
}

PluginStatus FilterPass::RunWhole(uint32_t plugin, const Selection& from, Selection& passed) {
  PluginCycle& cycle = attempt_.cycle(plugin);
  const NodesView nodes(cycle, from);
  std::vector<Row> rows;
  rows.reserve(from.size());
  from.ForEachRow([&rows](Row row) { rows.push_back(row); });
  WholeFilterCall call(attempt_.table());
  if (PluginStatus status = call.Run(cycle, nodes, rows); !status.ok()) return status;
  std::vector<Row> kept;
  for (const Row row : rows) {
    if (call.code(row) == BERTH_SUCCESS) {
      kept.push_back(row);
    } else if (PluginStatus status = Reject(plugin, row, call.code(row), call.reasons(row));
               !status.ok()) {
      return status;
    }
  }
  passed.AssignRows(attempt_.table(), kept);
  return {};
}

PluginStatus FilterPass::RunPlugin(uint32_t plugin, const Selection::Block& block) {
  PluginCycle& cycle = attempt_.cycle(plugin);
  std::fill_n(codes_.begin(), block.count, kUnwrittenVerdict);
  std::fill_n(reasons_.begin(), block.count, uint64_t{0});
  const berth_block view =
      cycle.BlockFor(block.first_row, block.count, std::span(survivors_).first(n_), columns_);
  PluginStatus status = FilterBlock(cycle, view, codes_.data(), reasons_.data());
  if (!status.ok()) return status;
  return AllPassed() ? PluginStatus{} : RemoveRejected(plugin, block.first_row);
}

// Returns whether no row was rejected: the common case, without a branch per node.
bool FilterPass::AllPassed() const {
  if (survivors_[n_ - 1] != n_ - 1) {
    uint8_t any = 0;
    for (uint32_t i = 0; i < n_; ++i) any |= codes_[survivors_[i]];
    return any == BERTH_SUCCESS;
  }
  // The survivors are 0 .. n-1: check eight verdicts at a time.
  uint64_t any = 0;
  uint32_t i = 0;
  for (; i + sizeof(any) <= n_; i += sizeof(any)) {
    uint64_t eight;
    std::memcpy(&eight, &codes_[i], sizeof(eight));
    any |= eight;
  }
  for (; i < n_; ++i) any |= codes_[i];
  return any == BERTH_SUCCESS;
}

// Records the verdicts of rejected rows and keeps the others.
PluginStatus FilterPass::RemoveRejected(uint32_t plugin, Row first_row) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n_; ++i) {
    const uint32_t index = survivors_[i];
    const uint8_t code = codes_[index];
    if (code == BERTH_SUCCESS) {
      survivors_[kept++] = index;
      continue;
    }
    PluginStatus status = Reject(plugin, first_row + index, code, reasons_[index]);
    if (!status.ok()) return status;
  }
  n_ = kept;
  return {};
}

// Records the verdict of one row. Returns an error if it is no rejection.
PluginStatus FilterPass::Reject(uint32_t plugin, Row row, uint8_t code, uint64_t reasons) {
  if (!IsNodeRejection(code)) {
    return NodeFailed(attempt_.cycle(plugin), attempt_.table().node(row)->name(), code, reasons);
  }
  attempt_.verdicts[row] = {reasons, plugin, code};
  return {};
}

}  // namespace berth::host
