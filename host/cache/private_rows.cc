#include "host/cache/private_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/saturating.h"

namespace berth::host {

uint32_t PrivateRows::Add(Row row) {
  BERTH_ASSERT(table_.IsLive(row));
  const berth_pod_list& pods = table_.pod_lists()[row];
  return Append(row, table_.node_views()[row], {pods.data, pods.data + pods.count});
}

uint32_t PrivateRows::AddCopy(const PrivateRows& other, uint32_t index) {
  BERTH_ASSERT(&other.table_ == &table_);
  const uint32_t copy = Append(other.rows_[index], other.nodes_[index], other.pods_[index]);
  for (const Delta& delta : other.deltas_) {
    if (delta.index == index) deltas_.push_back({copy, delta.sign, delta.pod});
  }
  return copy;
}

uint32_t PrivateRows::Append(uint32_t row, const berth_node* node,
                             std::vector<const berth_pod*> pods) {
  rows_.push_back(row);
  nodes_.push_back(node);
  pods_.push_back(std::move(pods));
  pod_lists_.emplace_back();
  RefreshPods(size() - 1);
  return size() - 1;
}

void PrivateRows::AddPod(uint32_t index, const berth_pod& pod) {
  pods_[index].push_back(&pod);
  deltas_.push_back({index, 1, &pod});
  RefreshPods(index);
}

bool PrivateRows::RemovePod(uint32_t index, const berth_pod& pod) {
  const auto found = std::ranges::find(pods_[index], &pod);
  if (found == pods_[index].end()) return false;
  *found = pods_[index].back();
  pods_[index].pop_back();
  deltas_.push_back({index, -1, &pod});
  RefreshPods(index);
  return true;
}

void PrivateRows::RefreshPods(uint32_t index) {
  copies_.clear();
  pod_lists_[index] = {pods_[index].data(), pods_[index].size()};
}

const void* PrivateRows::ColumnData(ColumnIndex column) {
  for (Copy& copy : copies_) {
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
    // A sum that reached the limit may be less than the sum of its amounts. It stays at the limit
    // until it is computed anew below.
    if (value == kMaxAmount) continue;
    const int64_t amount = spec.PodAmount(*delta.pod);
    value = delta.sign > 0 ? AddAmounts(value, amount) : value - amount;
  }
  for (const Delta& delta : deltas_) {
    int64_t& value = value_of(delta);
    if (value == kMaxAmount) value = spec.SumOver(pods_[delta.index]);
  }
}

}  // namespace berth::host
