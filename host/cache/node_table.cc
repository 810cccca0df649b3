#include "host/cache/node_table.h"

#include <cstring>
#include <functional>
#include <optional>

#include "host/base/saturating.h"
#include "host/base/vectors.h"

namespace berth::host {
namespace {

// How many nodes or pods list each resource.
using Owners = std::unordered_map<Id, uint32_t>;

void AddOwner(Owners& owners, const berth_resources& amounts) {
  for (const berth_quantity& scalar : Elements<berth_quantity>(amounts.scalars)) {
    ++owners[scalar.name];
  }
}

void RemoveOwner(Owners& owners, const berth_resources& amounts) {
  for (const berth_quantity& scalar : Elements<berth_quantity>(amounts.scalars)) {
    const auto owner = owners.find(scalar.name);
    if (--owner->second == 0) owners.erase(owner);
  }
}

// To sort this number of changes, and one more for each kRowsPerChange rows, takes as long as to
// compare the generations of all rows.
constexpr uint64_t kFewChanges = 64;
constexpr uint64_t kRowsPerChange = 64;

}  // namespace

NodeTable::~NodeTable() {
  for (const auto& column : columns_) {
    if (column != nullptr) UnwatchObjects(*column);
  }
  for (const Id name : names_) interner_.Release(name);
}

// --- nodes --------------------------------------------------------------------------------------

Row NodeTable::SetNode(NodeRef node) {
  BERTH_ASSERT(node != nullptr);
  const Row found = RowOf(node->name());
  const Row row = found != kNoRow ? found : NewRow(node->name());
  if (!IsLive(row)) {
    ++node_count_;
    ++node_set_generation_;
  }
  // The ids of the old object must outlive the columns that hold them, so release the object last.
  const NodeRef old = std::exchange(node_refs_[row], std::move(node));
  nodes_[row] = &node_refs_[row]->view();
  AddOwner(nodes_by_scalar_, *nodes_[row]->allocatable);
  if (old != nullptr) RemoveOwner(nodes_by_scalar_, *old->view().allocatable);
  WriteNodeColumns(row);
  BumpGeneration(row);
  node_versions_[row] = generation_;
  return row;
}

Row NodeTable::RemoveNode(std::string_view name) {
  const Row row = FindNode(name);
  if (row == kNoRow) return kNoRow;
  --node_count_;
  ++node_set_generation_;
  RemoveOwner(nodes_by_scalar_, *nodes_[row]->allocatable);
  nodes_[row] = nullptr;
  node_versions_[row] = 0;
  ClearNodeColumns(row);
  node_refs_[row].reset();
  BumpGeneration(row);
  if (pods_[row].empty()) ReleaseRow(row);
  return row;
}

// --- pods ---------------------------------------------------------------------------------------

Row NodeTable::RowForPodsOf(std::string_view name) {
  const Row found = RowOf(name);
  return found != kNoRow ? found : NewRow(name);
}

void NodeTable::AddPod(Row row, PodRef pod) {
  BERTH_ASSERT(row < row_count());
  BERTH_ASSERT(pod != nullptr);
  AddToPodColumns(row, pod->view());
  pods_[row].Add(std::move(pod));
  pod_lists_[row] = {pods_[row].views().data(), pods_[row].views().size()};
  BumpGeneration(row);
}

void NodeTable::RemovePod(Row row, const berth_pod* pod) {
  BERTH_ASSERT(row < row_count());
  // The columns count the pod until they are updated, so it must live until then.
  const PodRef removed = pods_[row].Remove(pod);
  RemoveFromPodColumns(row, *pod);
  pod_lists_[row] = {pods_[row].views().data(), pods_[row].views().size()};
  BumpGeneration(row);
  if (pods_[row].empty() && !IsLive(row)) ReleaseRow(row);
}

// --- rows ---------------------------------------------------------------------------------------

Row NodeTable::FindNode(std::string_view name) const {
  const Row row = RowOf(name);
  return row != kNoRow && IsLive(row) ? row : kNoRow;
}

Row NodeTable::RowOf(std::string_view name) const {
  const auto found = row_by_name_.find(interner_.Find(name));
  return found != row_by_name_.end() ? found->second : kNoRow;
}

void NodeTable::RowsChangedSince(uint64_t generation, std::vector<Row>& rows) const {
  rows.clear();
  if (generation == generation_) return;
  const bool are_few = generation_ - generation <= row_count() / kRowsPerChange + kFewChanges;
  if (are_few && journal_.Covers(generation)) {
    journal_.ForEachSince(generation, [&rows](Row row) { rows.push_back(row); });
    SortUnique(rows);
    return;
  }
  for (Row row = 0; row < row_count(); ++row) {
    if (generations_[row] > generation) rows.push_back(row);
  }
}

Row NodeTable::NewRow(std::string_view name) {
  Row row = row_count();
  if (!free_rows_.empty()) {
    // Reuse the lowest free row, so that the table stays dense and the order of rows depends on the
    // history as little as possible.
    std::ranges::pop_heap(free_rows_, std::greater<>());
    row = free_rows_.back();
    free_rows_.pop_back();
  } else {
    ReserveOneMore(nodes_, node_refs_, names_, pods_, pod_lists_, row_numbers_, generations_,
                   node_versions_);
    nodes_.push_back(nullptr);
    node_refs_.emplace_back();
    names_.push_back(kNoId);
    pods_.emplace_back();
    pod_lists_.push_back({nullptr, 0});
    row_numbers_.push_back(row);
    generations_.push_back(0);
    node_versions_.push_back(0);
    if (!zeros_.empty()) zeros_.Resize(row_count());
    for (const auto& column : columns_) {
      if (column == nullptr || column->storage.empty()) continue;
      if (column->pins == 0) RemoveIdle(*column);
      column->storage.Resize(row_count());
      if (column->pins == 0) AddIdle(*column);
    }
  }
  names_[row] = interner_.Intern(name);
  row_by_name_.emplace(names_[row], row);
  BumpGeneration(row);
  return row;
}

void NodeTable::ReleaseRow(Row row) {
  BERTH_ASSERT(!IsLive(row));
  BERTH_ASSERT(pods_[row].empty());
  row_by_name_.erase(names_[row]);
  interner_.Release(std::exchange(names_[row], kNoId));
  free_rows_.push_back(row);
  std::ranges::push_heap(free_rows_, std::greater<>());
}

// --- columns ------------------------------------------------------------------------------------

Result<ColumnIndex> NodeTable::ColumnFor(std::string_view name) {
  auto found = column_by_name_.find(name);
  if (found == column_by_name_.end()) {
    Result<ColumnSpec> spec = ColumnSpec::Parse(name, interner_);
    if (!spec.ok()) return std::move(spec).status();
    found = column_by_name_.find(spec->name());
    if (found == column_by_name_.end()) {
      auto column = std::make_unique<Column>(std::move(spec).value());
      FillColumn(*column);
      WatchObjects(*column);
      if (dropped_object_columns_.erase(column->spec.name()) != 0) BumpLiveRows();
      if (free_columns_.empty()) {
        free_columns_.push_back(static_cast<ColumnIndex>(columns_.size()));
        columns_.emplace_back();
      }
      const ColumnIndex index = free_columns_.back();
      free_columns_.pop_back();
      found = column_by_name_.emplace(column->spec.name(), index).first;
      AddIdle(*column);
      columns_[index] = std::move(column);
    }
  }
  columns_[found->second]->last_use = ++uses_;
  return found->second;
}

void NodeTable::AddIdle(const Column& column) {
  idle_bytes_ += column.storage.bytes();
  ++idle_count_;
}

void NodeTable::RemoveIdle(const Column& column) {
  idle_bytes_ -= column.storage.bytes();
  --idle_count_;
}

void NodeTable::PinColumn(ColumnIndex column) {
  if (columns_[column]->pins++ == 0) RemoveIdle(*columns_[column]);
}

void NodeTable::UnpinColumn(ColumnIndex column) {
  BERTH_ASSERT(columns_[column]->pins > 0);
  if (--columns_[column]->pins == 0) AddIdle(*columns_[column]);
}

void NodeTable::DropIdleColumns(size_t bytes, size_t count) {
  const auto within_limits = [&] { return idle_bytes_ <= bytes && idle_count_ <= count; };
  if (within_limits()) return;
  std::vector<ColumnIndex> idle;
  for (ColumnIndex i = 0; i < columns_.size(); ++i) {
    if (columns_[i] != nullptr && columns_[i]->pins == 0) idle.push_back(i);
  }
  BERTH_ASSERT(idle.size() == idle_count_);
  std::ranges::sort(idle, {}, [this](ColumnIndex i) { return columns_[i]->last_use; });
  for (const ColumnIndex index : idle) {
    if (within_limits()) return;
    RemoveIdle(*columns_[index]);
    const ColumnSpec& spec = columns_[index]->spec;
    if (spec.is_object()) dropped_object_columns_.insert(spec.name());
    column_by_name_.erase(spec.name());
    UnwatchObjects(*columns_[index]);
    columns_[index].reset();
    free_columns_.push_back(index);
  }
  BERTH_ASSERT(idle_count_ == 0 && idle_bytes_ == 0);
}

void NodeTable::BumpLiveRows() {
  for (Row row = 0; row < row_count(); ++row) {
    if (IsLive(row)) BumpGeneration(row);
  }
}

bool NodeTable::IsZero(const ColumnSpec& spec) const {
  const std::optional<Id> scalar = spec.scalar();
  if (!scalar.has_value()) return false;
  const Owners& owners = spec.is_pod_sum() ? pods_by_scalar_ : nodes_by_scalar_;
  return owners.find(*scalar) == owners.end();
}

void NodeTable::Materialize(Column& column) {
  if (column.pins == 0) RemoveIdle(column);
  column.storage.Resize(row_count());
  if (column.pins == 0) AddIdle(column);
}

void NodeTable::FillColumn(Column& column) {
  const uint32_t rows = std::max<uint32_t>(row_count(), 1);
  if (IsZero(column.spec)) return zeros_.Resize(rows);
  column.storage.Resize(rows);
  for (Row row = 0; row < row_count(); ++row) {
    if (!column.spec.is_pod_sum()) {
      if (IsLive(row)) WriteNodeValue(column, row);
      continue;
    }
    *static_cast<int64_t*>(column.storage.At(row)) = column.spec.SumOver(pods_[row].views());
  }
}

void NodeTable::WriteNodeColumns(Row row) {
  for (const auto& column : columns_) {
    if (column == nullptr || column->spec.is_pod_sum()) continue;
    WriteNodeValue(*column, row);
  }
}

void NodeTable::WriteNodeValue(Column& column, Row row) {
  if (column.storage.empty()) {
    if (IsZero(column.spec)) return;
    Materialize(column);
  }
  void* const value = column.storage.At(row);
  if (!column.spec.is_object()) return column.spec.NodeValue(*nodes_[row], value);
  const ObjectRef object = objects_ != nullptr
                               ? objects_->Get(column.spec.argument(), "", node_refs_[row]->name())
                               : nullptr;
  // The store keeps the object until OnObjectChange() has replaced the pointer.
  *static_cast<const berth_object**>(value) = object != nullptr ? &object->view() : nullptr;
}

// --- columns of objects -------------------------------------------------------------------------

void NodeTable::WatchObjects(Column& column) {
  if (!column.spec.is_object() || objects_ == nullptr) return;
  column.watcher = objects_->Watch(
      column.spec.argument(),
      [this, &column](const ObjectChange& change) { OnObjectChange(column, change); });
  objects_->Replay(column.watcher);
}

void NodeTable::UnwatchObjects(Column& column) {
  if (column.watcher != 0) objects_->Unwatch(std::exchange(column.watcher, 0));
}

void NodeTable::OnObjectChange(Column& column, const ObjectChange& change) {
  const ObjectRef& object = change.now != nullptr ? change.now : change.old;
  if (!object->ns().empty()) return;
  const Row row = FindNode(object->name());
  if (row == kNoRow) return;
  const berth_object* const view = change.now != nullptr ? &change.now->view() : nullptr;
  auto& value = *static_cast<const berth_object**>(column.storage.At(row));
  if (std::exchange(value, view) != view) BumpGeneration(row);
}

void NodeTable::ClearNodeColumns(Row row) {
  for (const auto& column : columns_) {
    if (column == nullptr || column->spec.is_pod_sum() || column->storage.empty()) continue;
    column->storage.Clear(row);
  }
}

void NodeTable::AddToPodColumns(Row row, const berth_pod& pod) {
  AddOwner(pods_by_scalar_, *pod.accounted);
  for (const auto& column : columns_) {
    if (column == nullptr || !column->spec.is_pod_sum()) continue;
    const int64_t amount = column->spec.PodAmount(pod);
    if (column->storage.empty()) {
      if (amount == 0) continue;
      Materialize(*column);
    }
    auto& value = *static_cast<int64_t*>(column->storage.At(row));
    value = AddAmounts(value, amount);
  }
}

void NodeTable::RemoveFromPodColumns(Row row, const berth_pod& pod) {
  RemoveOwner(pods_by_scalar_, *pod.accounted);
  for (const auto& column : columns_) {
    if (column == nullptr || !column->spec.is_pod_sum() || column->storage.empty()) continue;
    auto& value = *static_cast<int64_t*>(column->storage.At(row));
    // A sum that reached the limit may be less than the sum of its amounts, so it is computed anew.
    value = value == kMaxAmount ? column->spec.SumOver(pods_[row].views())
                                : value - column->spec.PodAmount(pod);
  }
}

uint32_t PrivateRows::Add(Row row) {
  BERTH_ASSERT(table_.IsLive(row));
  return Append(row, table_.arrays().nodes[row], table_.arrays().versions[row],
                table_.arrays().pods[row]);
}

uint32_t PrivateRows::AddCopy(const PrivateRows& other, uint32_t index) {
  BERTH_ASSERT(&other.table_ == &table_);
  const uint32_t copy = Append(other.rows_[index], other.nodes_[index], other.node_versions_[index],
                               other.pod_lists_[index]);
  if (other.own_pods_[index] == nullptr) return copy;
  OwnPods(copy);
  for (const Delta& delta : other.deltas_) {
    if (delta.index == index) deltas_.push_back({copy, delta.sign, delta.pod});
  }
  return copy;
}

uint32_t PrivateRows::Append(uint32_t row, const berth_node* node, uint64_t version,
                             const berth_pod_list& pods) {
  copies_.clear();
  copy_places_ = {};
  rows_.push_back(row);
  nodes_.push_back(node);
  node_versions_.push_back(version);
  pod_lists_.push_back(pods);
  own_pods_.emplace_back();
  return size() - 1;
}

void PrivateRows::AddPod(uint32_t index, const berth_pod& pod) {
  std::vector<const berth_pod*>& pods = OwnPods(index);
  pods.push_back(&pod);
  pod_lists_[index] = {pods.data(), pods.size()};
  UpdateColumns(index, 1, pod);
}

bool PrivateRows::RemovePod(uint32_t index, const berth_pod& pod) {
  const std::span<const berth_pod* const> there(pod_lists_[index].data, pod_lists_[index].count);
  const auto found = std::ranges::find(there, &pod);
  if (found == there.end()) return false;
  const auto position = static_cast<size_t>(found - there.begin());
  std::vector<const berth_pod*>& pods = OwnPods(index);
  pods[position] = pods.back();
  pods.pop_back();
  pod_lists_[index] = {pods.data(), pods.size()};
  UpdateColumns(index, -1, pod);
  return true;
}

std::vector<const berth_pod*>& PrivateRows::OwnPods(uint32_t index) {
  auto& own = own_pods_[index];
  if (own == nullptr) {
    const berth_pod_list& pods = pod_lists_[index];
    own = std::make_unique<std::vector<const berth_pod*>>(pods.data, pods.data + pods.count);
    pod_lists_[index] = {own->data(), own->size()};
  }
  return *own;
}

void PrivateRows::UpdateColumns(uint32_t index, int64_t sign, const berth_pod& pod) {
  deltas_.push_back({index, sign, &pod});
  for (Copy& copy : copies_) {
    const ColumnSpec& spec = table_.column_spec(copy.column);
    if (!spec.is_pod_sum()) continue;
    Apply(spec, deltas_.back(), *static_cast<int64_t*>(copy.storage.At(index)));
  }
}

void PrivateRows::Apply(const ColumnSpec& spec, const Delta& delta, int64_t& value) const {
  if (value == kMaxAmount) {
    // A sum that reached the limit may be less than the sum of its amounts.
    value = spec.SumOver({pod_lists_[delta.index].data, pod_lists_[delta.index].count});
    return;
  }
  const int64_t amount = spec.PodAmount(*delta.pod);
  value = delta.sign > 0 ? AddAmounts(value, amount) : value - amount;
}

const void* PrivateRows::ColumnData(ColumnIndex column) {
  const size_t known = copy_places_.Find(column);
  if (known != Positions<ColumnIndex>::kNone) return copies_[known].storage.At(0);
  copy_places_.Use(column);
  const ColumnSpec& spec = table_.column_spec(column);
  Copy& copy = copies_.emplace_back(Copy{column, ColumnStorage(spec.width())});
  copy.storage.Resize(std::max<uint32_t>(size(), 1));
  const auto* values = static_cast<const std::byte*>(table_.column_data(column));
  for (uint32_t i = 0; i < size(); ++i) {
    std::memcpy(copy.storage.At(i), values + size_t{rows_[i]} * spec.width(), spec.width());
  }
  if (spec.is_pod_sum()) ApplyDeltas(spec, copy.storage);
  return copy.storage.At(0);
}

void PrivateRows::ApplyDeltas(const ColumnSpec& spec, ColumnStorage& values) const {
  const auto value_of = [&values](const Delta& delta) -> int64_t& {
    return *static_cast<int64_t*>(values.At(delta.index));
  };
  for (const Delta& delta : deltas_) {
    int64_t& value = value_of(delta);
    // It stays at the limit until it is computed anew below.
    if (value != kMaxAmount) Apply(spec, delta, value);
  }
  for (const Delta& delta : deltas_) {
    int64_t& value = value_of(delta);
    if (value == kMaxAmount) Apply(spec, delta, value);
  }
}

}  // namespace berth::host
