#include "host/runtime/attempt/plugin_cycle.h"

#include <algorithm>
#include <utility>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/plan/plugin_call.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

constexpr size_t kReasonBits = 64;

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
  table_columns_.clear();
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
    table_columns_.push_back({nullptr, 0, 0});
    return;
  }
  const ColumnSpec& spec = table_.column_spec(column);
  table_columns_.push_back({table_.column_data(column), spec.type(), spec.width()});
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
  const auto known = std::ranges::find(columns_, column);
  const auto index = static_cast<uint32_t>(known - columns_.begin());
  if (known == columns_.end()) AddColumn(column);
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
  columns.assign(shared().table_columns_.begin(), shared().table_columns_.end());
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

berth_block PluginCycle::BlockFor(PrivateRows& rows, uint32_t first, uint32_t count,
                                  std::span<const uint32_t> selected,
                                  std::vector<berth_column>& columns) const {
  const auto& indices = shared().columns_;
  columns.assign(shared().table_columns_.begin(), shared().table_columns_.end());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (indices[i] == kNoColumn) continue;
    columns[i].data = static_cast<const std::byte*>(rows.ColumnData(indices[i])) +
                      size_t{first} * columns[i].stride;
  }
  const bool all = selected.size() == count;
  return {.struct_size = sizeof(berth_block),
          .count = count,
          .n_selected = static_cast<uint32_t>(selected.size()),
          .n_columns = static_cast<uint32_t>(columns.size()),
          .selected = all ? nullptr : selected.data(),
          .rows = rows.rows().data() + first,
          .columns = columns.data(),
          .nodes = rows.node_views().data() + first,
          .pods = rows.pod_lists().data() + first};
}

}  // namespace berth::host
