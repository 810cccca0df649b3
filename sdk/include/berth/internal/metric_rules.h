// The rules for the metrics of plugins. The host and the test kit share them.
#ifndef BERTH_INTERNAL_METRIC_RULES_H_
#define BERTH_INTERNAL_METRIC_RULES_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::internal {

// How many series one metric, and all metrics of one instance, may have. A plugin that labels by
// pod would otherwise fill the memory.
inline constexpr std::size_t kMaxSeriesOfMetric = 2000;
inline constexpr std::size_t kMaxSeriesOfInstance = 4096;

// The bounds of a histogram without bounds of its own: seconds, from 1 ms to 16 s.
inline constexpr std::array<double, 15> kDefaultBuckets = {0.001, 0.002, 0.004, 0.008, 0.016,
                                                           0.032, 0.064, 0.128, 0.256, 0.512,
                                                           1.024, 2.048, 4.096, 8.192, 16.384};

// Prometheus' data model: metric names may contain colons, label names may not.
constexpr bool IsMetricName(std::string_view name, bool colons) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto fits = [colons](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');
  };
  return !name.empty() && fits(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return fits(c) || is_digit(c); });
}

// A metric as a plugin defines it.
struct MetricDefinition {
  std::string_view name;
  bool is_histogram;
  std::span<const std::string> label_names;
  std::span<const double> buckets;
};

// Returns what is wrong with the labels; empty: nothing.
inline std::string WrongLabels(const MetricDefinition& metric) {
  const std::string where = "metric " + std::string(metric.name) + ": ";
  std::vector<std::string_view> names(metric.label_names.begin(), metric.label_names.end());
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
    return where + "a label is named twice";
  }
  for (const std::string_view name : names) {
    const bool taken = name == "plugin" || name == "profile" || name.starts_with("__") ||
                       (name == "le" && metric.is_histogram);
    if (!IsMetricName(name, false) || taken) {
      return where + "\"" + std::string(name) + "\" is not a valid label name, or is reserved";
    }
  }
  return {};
}

// Returns what is wrong with the definition; empty: nothing.
inline std::string WrongMetric(const MetricDefinition& metric) {
  if (!IsMetricName(metric.name, true)) {
    return "\"" + std::string(metric.name) + "\" is not a valid metric name";
  }
  for (std::size_t i = 0; i < metric.buckets.size(); ++i) {
    const bool rises = i == 0 || metric.buckets[i - 1] < metric.buckets[i];
    if (!std::isfinite(metric.buckets[i]) || !rises) {
      return "metric " + std::string(metric.name) +
             ": expected finite bucket bounds in ascending order";
    }
  }
  return WrongLabels(metric);
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_METRIC_RULES_H_
