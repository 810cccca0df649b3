#include "host/cache/private_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/saturating.h"

namespace berth::host {

uint32_t PrivateRows::Add(Row row) {
  BERTH_ASSERT(table_.IsLive(row));
  return Append(row, table_.node_views()[row], table_.pod_lists()[row]);
}

uint32_t PrivateRows::AddCopy(const PrivateRows& other, uint32_t index) {
  BERTH_ASSERT(&other.table_ == &table_);
  const uint32_t copy = Append(other.rows_[index], other.nodes_[index], other.pod_lists_[index]);
  if (other.own_pods_[index] == nullptr) return copy;
  OwnPods(copy);
  for (const Delta& delta : other.deltas_) {
    if (delta.index == index) deltas_.push_back({copy, delta.sign, delta.pod});
  }
  return copy;
}

uint32_t PrivateRows::Append(uint32_t row, const berth_node* node, const berth_pod_list& pods) {
  copies_.clear();
  rows_.push_back(row);
  nodes_.push_back(node);
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
  for (const Copy& copy : copies_) {
    if (copy.column == column) return copy.storage.At(0);
  }
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
