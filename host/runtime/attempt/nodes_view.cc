#include "host/runtime/attempt/nodes_view.h"

#include <algorithm>
#include <utility>

namespace berth::host {

// --- PassedNodes ---------------------------------------------------------------------------------

PassedNodes::PassedNodes(PluginCycle& cycle, uint32_t n_blocks, uint32_t n_nodes)
    : cycle_(cycle),
      abi_{.struct_size = sizeof(berth_nodes),
           .n_blocks = n_blocks,
           .n_nodes = n_nodes,
           .impl = this,
           .block = Block} {
  cycle.passed_nodes_.push_back(this);
}

PassedNodes::~PassedNodes() { std::erase(cycle_.passed_nodes_, this); }

const PassedNodes* PassedNodes::FindPassed(const PluginCycle& cycle, const berth_nodes* abi) {
  const auto& passed = cycle.passed_nodes_;
  const auto found = std::ranges::find(passed, abi, &PassedNodes::abi);
  return found != passed.end() ? *found : nullptr;
}

const berth_block* PassedNodes::Block(const berth_nodes* self, uint32_t index) noexcept {
  auto* nodes = static_cast<PassedNodes*>(self->impl);
  if (index >= nodes->abi_.n_blocks) return nullptr;
  nodes->block_ = nodes->BlockAt(index, nodes->columns_);
  return &nodes->block_;
}

// --- NodesView -----------------------------------------------------------------------------------

NodesView::NodesView(PluginCycle& cycle, const Selection& selection)
    : PassedNodes(cycle, static_cast<uint32_t>(selection.blocks().size()), selection.size()),
      selection_(selection) {}

std::optional<PassedNodes::Place> NodesView::Find(Row row) const {
  const auto blocks = selection_.blocks();
  const Row first = row / kBlockRows * kBlockRows;
  const auto found = std::ranges::lower_bound(blocks, first, {}, &Selection::Block::first_row);
  if (found == blocks.end() || found->first_row != first) return std::nullopt;
  const uint32_t index = row - first;
  if (!std::ranges::binary_search(selection_.SelectedOf(*found), index)) return std::nullopt;
  return Place{static_cast<uint32_t>(found - blocks.begin()), index};
}

berth_block NodesView::BlockAt(uint32_t index, std::vector<berth_column>& columns) {
  const Selection::Block& block = selection_.blocks()[index];
  return cycle_.BlockFor(block.first_row, block.count, selection_.SelectedOf(block), columns);
}

// --- PrivateNodesView ----------------------------------------------------------------------------

std::vector<PrivateNodesView::Block> PrivateNodesView::BlocksOf(std::span<const uint32_t> indices) {
  std::vector<Block> blocks;
  for (const uint32_t index : indices) {
    const uint32_t first = index / kBlockRows * kBlockRows;
    if (blocks.empty() || blocks.back().first != first) blocks.push_back({first, {}});
    blocks.back().selected.push_back(index - first);
  }
  return blocks;
}

PrivateNodesView::PrivateNodesView(PluginCycle& cycle, PrivateRows& rows,
                                   std::span<const uint32_t> indices)
    : PrivateNodesView(cycle, rows, BlocksOf(indices), static_cast<uint32_t>(indices.size())) {}

PrivateNodesView::PrivateNodesView(PluginCycle& cycle, PrivateRows& rows, std::vector<Block> blocks,
                                   uint32_t n_nodes)
    : PassedNodes(cycle, static_cast<uint32_t>(blocks.size()), n_nodes),
      rows_(rows),
      blocks_(std::move(blocks)) {}

std::optional<PassedNodes::Place> PrivateNodesView::Find(Row row) const {
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    for (const uint32_t index : blocks_[b].selected) {
      if (rows_.rows()[blocks_[b].first + index] == row) return Place{b, index};
    }
  }
  return std::nullopt;
}

berth_block PrivateNodesView::BlockAt(uint32_t index, std::vector<berth_column>& columns) {
  const Block& block = blocks_[index];
  const uint32_t count = std::min(kBlockRows, rows_.size() - block.first);
  return cycle_.BlockFor(rows_, block.first, count, block.selected, columns);
}

}  // namespace berth::host
