// The handles of metric series that one plugin instance has.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERIES_TABLE_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERIES_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <berth/internal/metric_rules.h>

#include "host/runtime/services/metric_cell.h"

namespace berth::host {

// Takes 1.5 KB from the first series on, and 1 KB more for each 64 series: 66 KB for kMaxSeries.
//
// Series are never removed, so that Find() needs no lock. <berth/abi.h> promises that observe()
// takes no lock, and that a thread that the plugin left running may still call it after destroy().
// Such a thread may be inside Find() when the instance is retired, so that the table is not freed
// then: it lives as long as its InstanceHost, and a reload leaves it behind. The cells themselves
// belong to the MetricStore too, which keeps them for the next instance. Only if that instance
// defines a metric differently, the cells of the old definition are left behind as well: 80 bytes
// for each counter or gauge, and 208 for each histogram with the default buckets.
class SeriesTable {
 public:
  // How many series one instance may have.
  static constexpr size_t kMaxSeries = internal::kMaxSeriesOfInstance;

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

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERIES_TABLE_H_
