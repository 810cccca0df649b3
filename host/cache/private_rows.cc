#include "host/cache/private_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

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
  if (spec.is_pod_sum()) {
    for (const Delta& delta : deltas_) {
      auto* value = static_cast<int64_t*>(copy.storage.At(delta.index));
      const uint64_t amount =
          static_cast<uint64_t>(delta.sign) * static_cast<uint64_t>(spec.PodAmount(*delta.pod));
      *value = static_cast<int64_t>(static_cast<uint64_t>(*value) + amount);
    }
  }
  return copy.storage.At(0);
}

}  // namespace berth::host
