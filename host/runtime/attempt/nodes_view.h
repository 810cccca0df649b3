// Nodes as berth_nodes, for the calls that receive more than one block.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_NODES_VIEW_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_NODES_VIEW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <berth/abi.h>

#include "host/cache/node_table.h"
#include "host/cache/private_rows.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// A berth_nodes that the host passes to one call of a plugin. While it exists, FindPassed() finds
// it by its address, so that a plugin cannot use one of an earlier call.
class PassedNodes {
 public:
  struct Place {
    uint32_t block;
    uint32_t index;
  };

  virtual ~PassedNodes();
  PassedNodes(const PassedNodes&) = delete;
  PassedNodes& operator=(const PassedNodes&) = delete;

  // Returns the nodes at this address, if they are passed to the call that has `cycle`; null
  // otherwise. `abi` may be any pointer.
  static const PassedNodes* FindPassed(const PluginCycle& cycle, const berth_nodes* abi);

  const berth_nodes* abi() const { return &abi_; }
  // Returns where a row stands; no value if it is not one of the nodes.
  virtual std::optional<Place> Find(Row row) const = 0;

 protected:
  PassedNodes(PluginCycle& cycle, uint32_t n_blocks, uint32_t n_nodes);

  // Returns block `index`, which is less than n_blocks.
  virtual berth_block BlockAt(uint32_t index, std::vector<berth_column>& columns) = 0;

  PluginCycle& cycle_;

 private:
  static const berth_block* Block(const berth_nodes* self, uint32_t index) noexcept;

  berth_nodes abi_;
  berth_block block_{};
  std::vector<berth_column> columns_;
};

// The rows of a selection.
class NodesView final : public PassedNodes {
 public:
  NodesView(PluginCycle& cycle, const Selection& selection);

  std::optional<Place> Find(Row row) const override;

 private:
  berth_block BlockAt(uint32_t index, std::vector<berth_column>& columns) override;

  const Selection& selection_;
};

// Some of the private rows, in their order.
class PrivateNodesView final : public PassedNodes {
 public:
  // `indices`: into `rows`, ascending.
  PrivateNodesView(PluginCycle& cycle, PrivateRows& rows, std::span<const uint32_t> indices);

  std::optional<Place> Find(Row row) const override;

 private:
  struct Block {
    uint32_t first;  // The index in `rows` at which it starts.
    std::vector<uint32_t> selected;
  };
  static std::vector<Block> BlocksOf(std::span<const uint32_t> indices);

  PrivateNodesView(PluginCycle& cycle, PrivateRows& rows, std::vector<Block> blocks,
                   uint32_t n_nodes);
  berth_block BlockAt(uint32_t index, std::vector<berth_column>& columns) override;

  PrivateRows& rows_;
  const std::vector<Block> blocks_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_NODES_VIEW_H_
