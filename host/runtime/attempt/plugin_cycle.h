// One plugin in one attempt: the arguments of its calls, its columns, its reason table, its cycle
// state and its views of nodes; and Invoke(), through which it is called.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_CYCLE_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_CYCLE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/base/split_mix.h"
#include "host/base/status.h"
#include "host/cache/node_table.h"
#include "host/guard/point.h"
#include "host/plan/instance_host.h"
#include "host/plan/invoke.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/point_meter.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

// --- cycle state ---------------------------------------------------------------------------------
//
// The cycle state of one pod: the slots of all plugins, from the first point of the attempt to the
// end of the binding.

// The slots of one instance, and their memory.
// Lifetime: one attempt, including its binding. The instance must outlive it.
class SlotSet {
 public:
  ~SlotSet() { Destroy(); }

  // Constructs every slot of the instance. The memory is reused from attempt to attempt.
  void Construct(const PlannedPlugin& plugin);
  // Constructs every slot as a clone of `other`'s. Errors: Internal when the plugin cannot clone.
  Status CloneFrom(const SlotSet& other);
  void Destroy();
  // Never destroys the slots, because a plugin still uses them.
  void Abandon() { plugin_ = nullptr; }
  // The instance whose slots are constructed; null if there are none.
  const PlannedPlugin* plugin() const { return plugin_; }

  // Returns the slots in the order of berth_plugin.slots.
  void* const* data() const { return slots_.data(); }

 private:
  void Reserve(const PlannedPlugin& plugin);

  const PlannedPlugin* plugin_ = nullptr;  // Null: nothing is constructed.
  size_t constructed_ = 0;
  std::vector<void*> slots_;
  std::unique_ptr<std::byte[]> memory_;
  size_t memory_size_ = 0;
};

// One SlotSet per plugin of a plan, in its order.
// Threading: constructed, cloned and destroyed on the scheduling thread.
// Lifetime:  the slots of an instance are destroyed before it ends. After the destruction of the
//            plan it can only be destroyed, which destroys the slots of instances that other plans
//            have.
class CycleState final : public InstanceSlots {
 public:
  explicit CycleState(const Plan& plan);
  ~CycleState();
  CycleState(const CycleState&) = delete;
  CycleState& operator=(const CycleState&) = delete;

  // Constructs the slots of every plugin.
  void Construct();
  SlotSet& of(uint32_t plugin) { return slots_[plugin]; }
  const SlotSet& of(uint32_t plugin) const { return slots_[plugin]; }
  void Destroy();
  void Destroy(std::span<const EndingPlugin> ending) override;

 private:
  const Plan& plan_;
  const std::shared_ptr<std::set<InstanceSlots*>> live_slots_;  // Plan::slots().
  std::vector<SlotSet> slots_;
};

// --- plugin cycle --------------------------------------------------------------------------------

class Attempt;
class PassedNodes;

// The selection of a block with a single row.
inline constexpr uint32_t kOneIndex[] = {0};

// Returns the only node of a block as the node that was chosen for the pod. Lifetime: that of the
// block.
inline berth_target TargetIn(const berth_block& block) {
  return {.struct_size = sizeof(berth_target),
          .row = block.rows[0],
          .node = block.nodes[0],
          .block = &block,
          .index = 0,
          .reserved = 0};
}

// Threading: the scheduling thread; BlockFor() on the thread that runs the block.
class PluginCycle {
 public:
  // `attempt`: the attempt that it belongs to; may be null.
  PluginCycle(const PlannedPlugin& plugin, NodeTable& table, Attempt* attempt = nullptr);
  PluginCycle(const PluginCycle&) = delete;
  PluginCycle& operator=(const PluginCycle&) = delete;

  // Begins an attempt for `pod`, with the plugin's static columns and constant reasons. `slots`:
  // the plugin's cycle state, constructed or cloned; must outlive every call that gets abi().
  void Begin(uint64_t id, const berth_pod& pod, const uint32_t* cancel, const SlotSet& slots);
  // Begins a what-if with other slots and these flags (BERTH_CYCLE_*). Columns and reasons are
  // those of `original`, which must outlive it. The columns do not change.
  void BeginWhatIf(PluginCycle& original, const SlotSet& slots, uint32_t flags);
  // Replaces the slots of a what-if.
  void SetSlots(const SlotSet& slots) { abi_.slots = slots.data(); }

  const berth_cycle* abi() const { return &abi_; }
  // Returns abi() with the deadline of a call at `point` that begins now.
  const berth_cycle* AbiFor(Point point);
  const PlannedPlugin& plugin() const { return plugin_; }
  // May be null.
  Attempt* attempt() const { return attempt_; }
  static PluginCycle* FromAbi(const berth_cycle* cycle);

  // Implements berth.columns/1. Returns the column's index in the blocks of the plugin. `optional`:
  // a column that the host does not have has no data in the blocks, and is no error.
  // Errors: Conflict outside PreFilter and PreScore; NotFound; InvalidArgument if the column has
  //         another type.
  Result<uint32_t> BindColumn(std::string_view name, uint32_t type, bool optional);
  // Implements berth.random/1. A what-if continues the sequence of the attempt.
  uint64_t NextRandom();
  void set_binding_allowed(bool allowed) { binding_allowed_ = allowed; }

  // Adds a reason in PreFilter or a whole Filter, and returns its bit, or -1 if the table is full.
  int32_t AddReason(std::string_view text);
  // Returns the reasons that were added in this attempt, in the order of their bits.
  std::span<const std::string> added_reasons() const { return shared().added_reasons_; }
  // Returns the texts of a mask, in the order of the bits.
  std::vector<std::string> ReasonTexts(uint64_t mask) const;
  std::string_view ReasonText(uint32_t bit) const;
  // Returns the texts of a rejection; NoReason() if the mask is empty.
  std::vector<std::string> RejectionTexts(uint64_t mask) const;

  // Returns the plugin's view of a block of rows. `columns`: memory of the caller, which must
  // outlive the block. `selected`: block indices; as many as `count` means all.
  berth_block BlockFor(Row first_row, uint32_t count, std::span<const uint32_t> selected,
                       std::vector<berth_column>& columns) const;
  // Returns the view of `count` private rows from `first` on.
  berth_block BlockFor(PrivateRows& rows, uint32_t first, uint32_t count,
                       std::span<const uint32_t> selected,
                       std::vector<berth_column>& columns) const;

  // The points at which the what-if questions of this attempt have counted a fault of the plugin.
  std::set<Point>& what_if_faults() {
    return original_ != nullptr ? original_->what_if_faults_ : what_if_faults_;
  }

  // Sets what observes the calls of this attempt; null for none.
  void SetCallMeter(PointMeter* meter) { call_meter_ = meter; }
  PointMeter* call_meter() const { return call_meter_; }
  void NoteCall(Point point) { called_ |= 1U << static_cast<uint32_t>(point); }
  // Returns the bits 1 << Point of the points at which the plugin was called since the last call.
  uint32_t TakeCalled() { return std::exchange(called_, 0); }

  bool skip_filter = false;
  bool skip_score = false;

 private:
  friend class PassedNodes;

  void AddColumn(ColumnIndex column);
  // Returns the first place of a column in columns_, or their number if it is not there.
  uint32_t PlaceOf(ColumnIndex column);
  // The cycle that has the columns and reasons.
  const PluginCycle& shared() const { return original_ != nullptr ? *original_ : *this; }

  const PlannedPlugin& plugin_;
  NodeTable& table_;
  Attempt* const attempt_;
  PluginCycle* original_ = nullptr;  // Not null in a what-if.
  berth_cycle abi_{};
  std::vector<ColumnIndex> columns_;
  // The first place of each column among the first `placed_` of columns_, if there are many.
  std::unordered_map<ColumnIndex, uint32_t> places_;
  uint32_t placed_ = 0;
  std::vector<berth_column> kinds_;  // The type and width of each column, without data.
  std::vector<std::string> added_reasons_;
  std::vector<const PassedNodes*> passed_nodes_;  // To the call in progress or the next.
  bool binding_allowed_ = false;
  uint32_t called_ = 0;
  PointMeter* call_meter_ = nullptr;
  std::set<Point> what_if_faults_;
  mutable std::optional<SplitMix64> random_;  // The attempt's; empty before its first use.
};

// --- nodes view ----------------------------------------------------------------------------------
//
// Nodes as berth_nodes, for the calls that receive more than one block.

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

// --- invoke --------------------------------------------------------------------------------------
//
// Invoke() for the functions of an extension point that receive the cycle of an attempt.
//
//   PluginAnswer answer = Invoke(
//       cycle, Point::kReserve, [&](auto& instance, auto* abi, berth_status* status) {
//         return instance.reserve()->reserve(instance.self(), abi, &target, status);
//       });
//   if (!answer.ok()) return PointStatus(cycle.plugin(), Point::kReserve, std::move(answer));

// Calls `f(instance, cycle, status)` inside a PluginCall and returns its answer. `cycle` carries
// the deadline of this call. `words`: see CalledFunction.
template <std::invocable<const PluginInstance&, const berth_cycle*, berth_status*> F>
PluginAnswer Invoke(PluginCycle& cycle, Point point, F&& f, uint32_t words = 0) {
  const berth_cycle* abi = cycle.AbiFor(point);
  const PlannedPlugin& plugin = cycle.plugin();
  const PluginCall call(*plugin.host, {.point = point, .cycle = abi, .words = words});
  cycle.NoteCall(point);
  PointMeter* const meter = cycle.call_meter();
  const int64_t since_ns = meter != nullptr ? meter->NowNs() : 0;
  PluginAnswer answer =
      CallWithStatus([&](berth_status* status) { return f(*plugin.instance, abi, status); });
  if (meter != nullptr) {
    meter->ObserveCall(plugin.id, plugin.name, point, answer.code, since_ns);
  }
  return answer;
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_PLUGIN_CYCLE_H_
