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
  // Read() reads the buckets first, so that it does not see a bucket without its count.
  count_.fetch_add(1, std::memory_order_relaxed);
  const auto bucket = std::ranges::lower_bound(family_->buckets, value);
  if (bucket == family_->buckets.end()) return;
  const auto index = static_cast<size_t>(bucket - family_->buckets.begin());
  buckets_[index].fetch_add(1, std::memory_order_release);
}

MetricCell::Values MetricCell::Read() const {
  Values values;
  values.bucket_counts.reserve(buckets_.size());
  for (const auto& bucket : buckets_) {
    values.bucket_counts.push_back(bucket.load(std::memory_order_acquire));
  }
  values.count = count_.load(std::memory_order_relaxed);
  values.value = value_.load(std::memory_order_relaxed);
  return values;
}

}  // namespace berth::host
