// The values of one series of a metric.
#ifndef BERTH_HOST_RUNTIME_SERVICES_METRIC_CELL_H_
#define BERTH_HOST_RUNTIME_SERVICES_METRIC_CELL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace berth::host {

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

// The properties that all series of a metric share.
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
      : family_(std::move(family)), buckets_(family_->buckets.size()) {}
  MetricCell(const MetricCell&) = delete;
  MetricCell& operator=(const MetricCell&) = delete;

  // Adds to a counter, sets a gauge, or counts in a histogram. Ignores NaN, and negative values of
  // a counter.
  void Observe(double value);

  struct Values {
    double value = 0;    // For a histogram: the sum of the observations.
    uint64_t count = 0;  // For a histogram: the number of observations.
    // The number of observations in each bucket, not cumulative. Observations above the last bound
    // are in no bucket. The buckets never have more observations than `count`.
    std::vector<uint64_t> bucket_counts;
  };
  Values Read() const;

 private:
  const std::shared_ptr<const MetricFamily> family_;
  std::atomic<double> value_ = 0;
  std::atomic<uint64_t> count_ = 0;
  std::vector<std::atomic<uint64_t>> buckets_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_METRIC_CELL_H_
