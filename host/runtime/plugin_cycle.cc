#include "host/runtime/plugin_cycle.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/api/assert.h"
#include "host/api/objects.h"

namespace berth::host {
namespace {

constexpr size_t kSlotAlignment = 64;
constexpr size_t kReasonBits = 64;

size_t RoundUp(size_t size) {
  return (size + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

}  // namespace

// --- SlotSet ------------------------------------------------------------------------------------

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
      slot.construct(at);
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
    } else if (slot.clone(to, from) != BERTH_SUCCESS) {
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
    if (slots[constructed_].destroy != nullptr) slots[constructed_].destroy(slots_[constructed_]);
  }
  plugin_ = nullptr;
}

// --- PluginCycle --------------------------------------------------------------------------------

PluginCycle::PluginCycle(const PlannedPlugin& plugin, NodeTable& table)
    : plugin_(plugin), table_(table) {}

void PluginCycle::Begin(uint64_t id, const berth_pod& pod, const uint32_t* cancel) {
  skip_filter = false;
  skip_score = false;
  binding_allowed_ = false;
  added_reasons_.clear();
  columns_.clear();
  table_columns_.clear();
  for (const ColumnIndex column : plugin_.columns) AddColumn(column);
  slots_.Construct(plugin_);
  abi_ = {.struct_size = sizeof(berth_cycle),
          .flags = 0,
          .id = id,
          .pod = &pod,
          .slots = slots_.data(),
          .cancel = cancel,
          .deadline_ns = 0,
          .host = this};
}

PluginCycle* PluginCycle::FromAbi(const berth_cycle* cycle) {
  return static_cast<PluginCycle*>(const_cast<void*>(cycle->host));
}

void PluginCycle::AddColumn(ColumnIndex column) {
  columns_.push_back(column);
  if (column == kNoColumn) {
    table_columns_.push_back({nullptr, 0, 0});
    return;
  }
  const ColumnSpec& spec = table_.column_spec(column);
  table_columns_.push_back({table_.column_data(column), spec.type(), spec.width()});
}

Result<uint32_t> PluginCycle::BindColumn(std::string_view name) {
  if (!binding_allowed_) {
    return Status::Conflict("columns are bound in PreFilter and PreScore only");
  }
  Result<ColumnIndex> column = table_.ColumnFor(name);
  if (!column.ok()) return std::move(column).status();
  const auto known = std::ranges::find(columns_, *column);
  const auto index = static_cast<uint32_t>(known - columns_.begin());
  if (known == columns_.end()) AddColumn(*column);
  return index;
}

int32_t PluginCycle::AddReason(std::string_view text) {
  const auto known = std::ranges::find(added_reasons_, text);
  const size_t bit = plugin_.reasons.size() + static_cast<size_t>(known - added_reasons_.begin());
  if (bit >= kReasonBits) return -1;
  if (known == added_reasons_.end()) added_reasons_.emplace_back(text);
  return static_cast<int32_t>(bit);
}

std::string_view PluginCycle::ReasonText(uint32_t bit) const {
  const size_t constant = plugin_.reasons.size();
  if (bit < constant) return plugin_.reasons[bit];
  if (bit - constant < added_reasons_.size()) return added_reasons_[bit - constant];
  return "(a reason that the plugin did not declare)";
}

std::vector<std::string> PluginCycle::ReasonTexts(uint64_t mask) const {
  std::vector<std::string> texts;
  for (uint32_t bit = 0; bit < kReasonBits; ++bit) {
    if ((mask >> bit & 1) != 0) texts.emplace_back(ReasonText(bit));
  }
  return texts;
}

berth_block PluginCycle::BlockFor(Row first_row, uint32_t count, std::span<const uint32_t> selected,
                                  std::vector<berth_column>& columns) const {
  columns.assign(table_columns_.begin(), table_columns_.end());
  for (berth_column& column : columns) {
    if (column.data == nullptr) continue;
    column.data = static_cast<const std::byte*>(column.data) + size_t{first_row} * column.stride;
  }
  const bool all = selected.size() == count;
  return {.struct_size = sizeof(berth_block),
          .count = count,
          .n_selected = static_cast<uint32_t>(selected.size()),
          .n_columns = static_cast<uint32_t>(columns.size()),
          .selected = all ? nullptr : selected.data(),
          .rows = table_.row_numbers().data() + first_row,
          .columns = columns.data(),
          .nodes = table_.node_views().data() + first_row,
          .pods = table_.pod_lists().data() + first_row};
}

berth_block PluginCycle::BlockFor(PrivateRows& rows, std::vector<berth_column>& columns) const {
  columns.assign(table_columns_.begin(), table_columns_.end());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns_[i] != kNoColumn) columns[i].data = rows.ColumnData(columns_[i]);
  }
  return {.struct_size = sizeof(berth_block),
          .count = rows.size(),
          .n_selected = rows.size(),
          .n_columns = static_cast<uint32_t>(columns.size()),
          .selected = nullptr,
          .rows = rows.rows().data(),
          .columns = columns.data(),
          .nodes = rows.node_views().data(),
          .pods = rows.pod_lists().data()};
}

// --- NodesView ----------------------------------------------------------------------------------

NodesView::NodesView(const PluginCycle& cycle, const Selection& selection)
    : cycle_(cycle),
      selection_(selection),
      abi_{.struct_size = sizeof(berth_nodes),
           .n_blocks = static_cast<uint32_t>(selection.blocks().size()),
           .n_nodes = selection.size(),
           .impl = this,
           .block = Block} {}

const berth_block* NodesView::Block(const berth_nodes* self, uint32_t index) noexcept {
  auto* view = static_cast<NodesView*>(self->impl);
  const auto blocks = view->selection_.blocks();
  if (index >= blocks.size()) return nullptr;
  const Selection::Block& block = blocks[index];
  view->block_ = view->cycle_.BlockFor(block.first_row, block.count,
                                       view->selection_.SelectedOf(block), view->columns_);
  return &view->block_;
}

}  // namespace berth::host
