// CoverRow: how arrays grow that have an element for every row of the node table.
#ifndef BERTH_INTERNAL_COVER_ROW_H_
#define BERTH_INTERNAL_COVER_ROW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::internal {

// Makes `rows` long enough for an element of this row. The capacity grows by a quarter, because the
// array has as many elements as the cluster has nodes.
template <class T>
void CoverRow(std::vector<T>& rows, uint32_t row, const T& value) {
  const std::size_t needed = std::size_t{row} + 1;
  if (needed <= rows.size()) return;
  if (needed > rows.capacity()) {
    rows.reserve(needed + std::max<std::size_t>(64, rows.capacity() / 4));
  }
  rows.resize(needed, value);
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_COVER_ROW_H_
