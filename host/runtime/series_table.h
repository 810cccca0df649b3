// The handles of metric series that one plugin instance has.
#ifndef BERTH_HOST_RUNTIME_SERIES_TABLE_H_
#define BERTH_HOST_RUNTIME_SERIES_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/runtime/metric_cell.h"

namespace berth::host {

// Takes about 1 KB from the first series on, and 1 KB more for each 64 series. Series are never
// removed, so that Find() needs no lock.
class SeriesTable {
 public:
  // How many series one instance may have. A plugin that labels by pod would otherwise fill the
  // memory.
  static constexpr size_t kMaxSeries = 4096;

  SeriesTable() = default;
  SeriesTable(const SeriesTable&) = delete;
  SeriesTable& operator=(const SeriesTable&) = delete;

  // Returns the handle of a new series, which is never 0.
  // REQUIRES: size() < kMaxSeries. Threading: one call at a time.
  uint64_t Add(std::shared_ptr<MetricCell> cell);
  // Returns null for a number that is no handle. Threading: any.
  MetricCell* Find(uint64_t handle) const;
  size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr size_t kChunk = 64;
  using Chunk = std::array<std::shared_ptr<MetricCell>, kChunk>;
  using Chunks = std::array<std::unique_ptr<Chunk>, kMaxSeries / kChunk>;

  std::unique_ptr<Chunks> chunks_;
  std::atomic<size_t> size_ = 0;  // Published after the entry was written.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERIES_TABLE_H_
