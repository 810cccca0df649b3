#include "host/runtime/services/series_table.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

uint64_t SeriesTable::Add(std::shared_ptr<MetricCell> cell) {
  const size_t index = size_.load(std::memory_order_relaxed);
  BERTH_ASSERT(index < kMaxSeries);
  if (chunks_ == nullptr) chunks_ = std::make_unique<Chunks>();
  std::unique_ptr<Chunk>& chunk = (*chunks_)[index / kChunk];
  if (chunk == nullptr) chunk = std::make_unique<Chunk>();
  (*chunk)[index % kChunk] = std::move(cell);
  size_.store(index + 1, std::memory_order_release);
  return index + 1;
}

MetricCell* SeriesTable::Find(uint64_t handle) const {
  if (handle == 0 || handle > size()) return nullptr;
  const uint64_t index = handle - 1;
  return (*(*chunks_)[index / kChunk])[index % kChunk].get();
}

}  // namespace berth::host
