// The values of one series of a metric.
#ifndef BERTH_HOST_RUNTIME_SERVICES_METRIC_CELL_H_
#define BERTH_HOST_RUNTIME_SERVICES_METRIC_CELL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/base/metrics.h"

namespace berth::host {

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
  MetricCell(const MetricCell&) = delete;
  MetricCell& operator=(const MetricCell&) = delete;

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

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_METRIC_CELL_H_
