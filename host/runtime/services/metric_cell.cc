#include "host/runtime/services/metric_cell.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace berth::host {

void MetricCell::Observe(double value) {
  if (std::isnan(value)) return;
  if (family_->kind == MetricKind::kGauge) {
    value_.store(value, std::memory_order_relaxed);
    return;
  }
  if (family_->kind == MetricKind::kCounter && value < 0) return;
  value_.fetch_add(value, std::memory_order_relaxed);
  if (family_->kind == MetricKind::kCounter) return;
  const auto bound = std::ranges::lower_bound(family_->buckets, value);
  const auto index = static_cast<size_t>(bound - family_->buckets.begin());
  buckets_[index].fetch_add(1, std::memory_order_relaxed);
}

void MetricCell::Read(MetricTable::Series& series) const {
  const double value = value_.load(std::memory_order_relaxed);
  if (family_->kind != MetricKind::kHistogram) {
    series.value = value;
    return;
  }
  series.histogram.sum = value;
  for (const auto& bucket : buckets_) {
    series.histogram.buckets.push_back(bucket.load(std::memory_order_relaxed));
  }
}

}  // namespace berth::host
