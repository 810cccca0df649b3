#include "host/runtime/attempt/plugin_cycle.h"

#include <algorithm>
#include <cstring>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

constexpr size_t kSlotAlignment = 64;

size_t RoundUp(size_t size) {
  return (size + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

bool Clone(const PlannedPlugin& plugin, const berth_slot& slot, void* to, const void* from) {
  const berth_code code = Invoke(*plugin.host, kCycleState, [&] { return slot.clone(to, from); });
  if (code != BERTH_SUCCESS) NoteBadCode(plugin, kCycleState, code, "clone");
  return code == BERTH_SUCCESS;
}

}  // namespace

void SlotSet::Reserve(const PlannedPlugin& plugin) {
  const auto slots = plugin.instance->slots();
  size_t size = kSlotAlignment;
  for (const berth_slot& slot : slots) size += RoundUp(slot.size);
  if (size > memory_size_) {
    memory_ = std::make_unique<std::byte[]>(size);
    memory_size_ = size;
  }
  slots_.clear();
  auto address = RoundUp(reinterpret_cast<uintptr_t>(memory_.get()));
  for (const berth_slot& slot : slots) {
    slots_.push_back(reinterpret_cast<void*>(address));
    address += RoundUp(slot.size);
  }
  plugin_ = &plugin;
}

void SlotSet::Construct(const PlannedPlugin& plugin) {
  Destroy();
  if (plugin.instance->slots().empty()) return;
  Reserve(plugin);
  for (const berth_slot& slot : plugin.instance->slots()) {
    void* at = slots_[constructed_++];
    if (slot.construct != nullptr) {
      Invoke(*plugin.host, kCycleState, [&] { slot.construct(at); });
    } else {
      std::memset(at, 0, slot.size);
    }
  }
}

Status SlotSet::CloneFrom(const SlotSet& other) {
  Destroy();
  if (other.plugin_ == nullptr) return {};
  Reserve(*other.plugin_);
  for (const berth_slot& slot : plugin_->instance->slots()) {
    void* to = slots_[constructed_];
    const void* from = other.slots_[constructed_];
    if (slot.clone == nullptr) {
      std::memcpy(to, from, slot.size);
    } else if (!Clone(*plugin_, slot, to, from)) {
      return Status::Internal("plugin " + plugin_->name + " could not clone its cycle state");
    }
    ++constructed_;
  }
  return {};
}

void SlotSet::Destroy() {
  if (plugin_ == nullptr) return;
  const auto slots = plugin_->instance->slots();
  while (constructed_ > 0) {
    --constructed_;
    const berth_slot& slot = slots[constructed_];
    if (slot.destroy == nullptr) continue;
    Invoke(*plugin_->host, kCycleState, [&] { slot.destroy(slots_[constructed_]); });
  }
  plugin_ = nullptr;
}

CycleState::CycleState(const Plan& plan)
    : plan_(plan), live_slots_(plan.slots()), slots_(plan.plugins().size()) {
  live_slots_->insert(this);
}

CycleState::~CycleState() { live_slots_->erase(this); }

void CycleState::Construct() {
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i].Construct(plan_.plugins()[i]);
}

void CycleState::Destroy() {
  for (SlotSet& slots : slots_) slots.Destroy();
}

void CycleState::Destroy(std::span<const EndingPlugin> ending) {
  for (SlotSet& slots : slots_) {
    const auto found = std::ranges::find(ending, slots.plugin(), &EndingPlugin::plugin);
    if (found == ending.end()) continue;
    found->is_busy ? slots.Abandon() : slots.Destroy();
  }
}

namespace {

constexpr size_t kReasonBits = 64;

berth_block BlockOf(const RowArrays& from, uint32_t first, uint32_t count,
                    std::span<const uint32_t> selected, const std::vector<berth_column>& columns) {
  return {.struct_size = sizeof(berth_block),
          .count = count,
          .n_selected = static_cast<uint32_t>(selected.size()),
          .n_columns = static_cast<uint32_t>(columns.size()),
          .selected = selected.size() == count ? nullptr : selected.data(),
          .rows = from.rows.data() + first,
          .columns = columns.data(),
          .nodes = from.nodes.data() + first,
          .pods = from.pods.data() + first,
          .versions = from.versions.data() + first};
}

}  // namespace

PluginCycle::PluginCycle(const PlannedPlugin& plugin, NodeTable& table, Attempt* attempt)
    : plugin_(plugin), table_(table), attempt_(attempt) {}

void PluginCycle::Begin(uint64_t id, const berth_pod& pod, const uint32_t* cancel,
                        const SlotSet& slots) {
  original_ = nullptr;
  skip_filter = false;
  skip_score = false;
  binding_allowed_ = false;
  random_.reset();
  what_if_faults_.clear();
  added_reasons_.clear();
  columns_.clear();
  kinds_.clear();
  // A new map: clear() takes time for each bucket that the largest pod needed.
  if (placed_ != 0) places_ = {};
  placed_ = 0;
  for (const ColumnIndex column : plugin_.columns) AddColumn(column);
  abi_ = {.struct_size = sizeof(berth_cycle),
          .flags = 0,
          .id = id,
          .pod = &pod,
          .slots = slots.data(),
          .cancel = cancel,
          .deadline_ns = 0,
          .host = this};
}

void PluginCycle::BeginWhatIf(PluginCycle& original, const SlotSet& slots, uint32_t flags) {
  original_ = original.original_ != nullptr ? original.original_ : &original;
  skip_filter = original.skip_filter;
  skip_score = original.skip_score;
  abi_ = original.abi_;
  abi_.flags |= flags;
  abi_.slots = slots.data();
  abi_.host = this;
}

const berth_cycle* PluginCycle::AbiFor(Point point) {
  abi_.deadline_ns = DeadlineNs(*plugin_.host, point);
  return &abi_;
}

PluginCycle* PluginCycle::FromAbi(const berth_cycle* cycle) {
  return static_cast<PluginCycle*>(const_cast<void*>(cycle->host));
}

void PluginCycle::AddColumn(ColumnIndex column) {
  columns_.push_back(column);
  if (column == kNoColumn) {
    kinds_.push_back({nullptr, 0, 0});
    return;
  }
  const ColumnSpec& spec = table_.column_spec(column);
  kinds_.push_back({nullptr, spec.type(), spec.width()});
}

uint32_t PluginCycle::PlaceOf(ColumnIndex column) {
  constexpr size_t kFew = 32;
  if (columns_.size() <= kFew) {
    return static_cast<uint32_t>(std::ranges::find(columns_, column) - columns_.begin());
  }
  const auto count = static_cast<uint32_t>(columns_.size());
  for (; placed_ < count; ++placed_) places_.try_emplace(columns_[placed_], placed_);
  const auto found = places_.find(column);
  return found == places_.end() ? count : found->second;
}

Result<uint32_t> PluginCycle::BindColumn(std::string_view name, uint32_t type, bool optional) {
  if (!binding_allowed_) {
    return Status::Conflict("columns are bound in PreFilter and PreScore only");
  }
  Result<ColumnIndex> found = FindColumn(plugin_, table_, name);
  if (!found.ok() && !optional) return std::move(found).status();
  if (found.ok() && table_.column_spec(*found).type() != type) {
    return Status::InvalidArgument("column " + std::string(name) + " has another type");
  }
  const ColumnIndex column = found.ok() ? *found : kNoColumn;
  const uint32_t index = PlaceOf(column);
  if (index == columns_.size()) AddColumn(column);
  return index;
}

uint64_t PluginCycle::NextRandom() {
  std::optional<SplitMix64>& random = shared().random_;
  if (!random.has_value()) {
    const InstanceHost& host = *plugin_.host;
    uint64_t seed = HashCombine(host.context().seed, abi_.id);
    seed = HashCombine(seed, HashBytes(host.plugin()));
    random.emplace(HashCombine(seed, HashBytes(host.profile())));
  }
  return random->Next();
}

int32_t PluginCycle::AddReason(std::string_view text) {
  if (original_ != nullptr) return original_->AddReason(text);
  const auto known = std::ranges::find(added_reasons_, text);
  const size_t bit = plugin_.reasons.size() + static_cast<size_t>(known - added_reasons_.begin());
  if (bit >= kReasonBits) return -1;
  if (known == added_reasons_.end()) added_reasons_.emplace_back(text);
  return static_cast<int32_t>(bit);
}

std::string_view PluginCycle::ReasonText(uint32_t bit) const {
  const size_t constant = plugin_.reasons.size();
  if (bit < constant) return plugin_.reasons[bit];
  const auto& added = shared().added_reasons_;
  if (bit - constant < added.size()) return added[bit - constant];
  return "(a reason that the plugin did not declare)";
}

std::vector<std::string> PluginCycle::ReasonTexts(uint64_t mask) const {
  std::vector<std::string> texts;
  for (uint32_t bit = 0; bit < kReasonBits; ++bit) {
    if ((mask >> bit & 1) != 0) texts.emplace_back(ReasonText(bit));
  }
  return texts;
}

std::vector<std::string> PluginCycle::RejectionTexts(uint64_t mask) const {
  return RejectionReasons(plugin_.name, ReasonTexts(mask));
}

berth_block PluginCycle::BlockFor(Row first_row, uint32_t count, std::span<const uint32_t> selected,
                                  std::vector<berth_column>& columns) const {
  columns.assign(shared().kinds_.begin(), shared().kinds_.end());
  const auto& indices = shared().columns_;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (indices[i] == kNoColumn) continue;
    // Read now, because the data moves when a pod that is placed needs memory for a column.
    columns[i].data = static_cast<const std::byte*>(table_.column_data(indices[i])) +
                      size_t{first_row} * columns[i].stride;
  }
  return BlockOf(table_.arrays(), first_row, count, selected, columns);
}

berth_block PluginCycle::BlockFor(PrivateRows& rows, uint32_t first, uint32_t count,
                                  std::span<const uint32_t> selected,
                                  std::vector<berth_column>& columns) const {
  const auto& indices = shared().columns_;
  columns.assign(shared().kinds_.begin(), shared().kinds_.end());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (indices[i] == kNoColumn) continue;
    columns[i].data = static_cast<const std::byte*>(rows.ColumnData(indices[i])) +
                      size_t{first} * columns[i].stride;
  }
  return BlockOf(rows.arrays(), first, count, selected, columns);
}

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
      if (rows_.arrays().rows[blocks_[b].first + index] == row) return Place{b, index};
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
