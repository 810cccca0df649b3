// The metrics of plugins.
#ifndef BERTH_HOST_RUNTIME_SERVICES_METRIC_STORE_H_
#define BERTH_HOST_RUNTIME_SERVICES_METRIC_STORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/internal/metric_rules.h>

#include "host/base/metrics.h"
#include "host/base/status.h"

namespace berth::host {

// --- metric cell ---------------------------------------------------------------------------------
//
// The values of one series of a metric.

using MetricKind = MetricTable::Metric::Kind;

// The definition of a metric.
struct MetricFamily {
  MetricKind kind = MetricKind::kCounter;
  std::string name;
  std::string help;
  std::vector<std::string> label_names = {};  // The labels except "plugin" and "profile".
  std::vector<double> buckets = {};           // Upper bounds of a histogram, ascending.

  friend bool operator==(const MetricFamily&, const MetricFamily&) = default;
};

// Threading: any. No method takes a lock.
class MetricCell {
 public:
  explicit MetricCell(std::shared_ptr<const MetricFamily> family)
      : family_(std::move(family)),
        buckets_(family_->kind == MetricKind::kHistogram ? family_->buckets.size() + 1 : 0) {}

  // Adds to a counter, sets a gauge, or counts in a histogram. Ignores NaN, and negative values of
  // a counter.
  void Observe(double value);

  // Writes the values to those of a series.
  void Read(MetricTable::Series& series) const;

 private:
  const std::shared_ptr<const MetricFamily> family_;
  std::atomic<double> value_ = 0;               // A histogram has the sum of its observations here.
  std::vector<std::atomic<uint64_t>> buckets_;  // Not cumulative; the last one is +Inf.
};

// --- series table --------------------------------------------------------------------------------
//
// The handles of metric series that one plugin instance has.

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

// --- metric store --------------------------------------------------------------------------------

// The metrics of plugins. The metrics of the host are in a MetricTable.
//
// Berth has its own store, because prometheus-cpp's registry does not record which plugin owns a
// name, whether two definitions agree, and how many series there may be. It would only add and
// print numbers, at the price of a map of strings per observation, and Debian's package depends on
// a web server and an HTTP client.
//
// Threading: any.
// Lifetime:  must outlive its metrics.
class MetricStore {
 public:
  // How many series one metric may have.
  static constexpr size_t kMaxSeries = internal::kMaxSeriesOfMetric;

  // A metric of one instance. Values stay when the instance is destroyed, so that counters continue
  // with the next one.
  class Metric;

  // Returns a metric for one plugin and profile. Equal definitions by the same plugin are one
  // metric, in several profiles and for an instance that replaces another. Begin() activates a
  // different definition, or that of another plugin, because a plugin may be renamed; from then on,
  // instances with the old definition may still observe, but Read() does not return their values.
  // Errors: InvalidArgument for an invalid name, label or bucket; AlreadyExists if another instance
  //         that has not begun either belongs to another plugin or defines the name differently.
  Result<std::shared_ptr<Metric>> Define(MetricFamily family, std::string_view plugin,
                                         std::string_view profile);
  // Activates the definition, because the instance that has the metric is activated.
  // Threading: the thread of Define().
  void Begin(Metric& metric);

  // Returns the series with these label values, which the first call creates. Observations of it
  // need no lock.
  // REQUIRES: one value per label name.
  // Errors: OutOfRange if the metric has kMaxSeries others.
  Result<std::shared_ptr<MetricCell>> SeriesOf(Metric& metric,
                                               std::span<const std::string_view> label_values);

  // Returns all metrics, by name. Their first labels are "plugin" and "profile". The series are
  // sorted by label values.
  std::vector<MetricTable::Metric> Read() const;

 private:
  struct Entry;
  struct Name {
    std::shared_ptr<Entry> entry;  // The active definition.
    std::weak_ptr<Entry> next;     // Becomes active when its instance is activated.
  };

  static Status Conflict(const Entry& entry, bool is_other_owner);

  mutable std::mutex mutex_;  // Guards what follows and every entry.
  std::map<std::string, Name, std::less<>> names_;
};

// Returns the default buckets: seconds, from 1 ms to 16 s.
std::span<const double> DefaultBuckets();

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_METRIC_STORE_H_
