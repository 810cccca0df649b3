#include "host/serve/metrics_page.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "host/base/metric_text.h"
#include "host/serve/process_metrics.h"

namespace berth::host {
namespace {

std::string_view KindName(MetricTable::Metric::Kind kind) {
  switch (kind) {
    case MetricTable::Metric::Kind::kCounter: return "counter";
    case MetricTable::Metric::Kind::kGauge: return "gauge";
    case MetricTable::Metric::Kind::kHistogram: return "histogram";
  }
  return "untyped";
}

// Appends a metric. `order`: the places of its labels, sorted by name.
void AppendMetric(std::string& page, const MetricTable::Metric& metric,
                  const std::vector<size_t>& order) {
  AppendMetricHead(page, metric.name, metric.help, KindName(metric.kind));
  for (const MetricTable::Series& series : metric.series) {
    std::string labels;
    for (const size_t i : order) {
      AppendMetricLabel(labels, metric.labels[i], series.label_values[i]);
    }
    if (metric.kind == MetricTable::Metric::Kind::kHistogram) {
      AppendMetricHistogram(page, metric.name, labels, metric.bounds, series.histogram.buckets,
                            series.histogram.sum);
    } else {
      AppendMetricLine(page, metric.name, labels, series.value);
    }
  }
}

}  // namespace

std::string ToMetricsText(std::vector<MetricTable::Metric> metrics) {
  std::ranges::sort(metrics, {}, &MetricTable::Metric::name);
  std::string page;
  for (MetricTable::Metric& metric : metrics) {
    if (metric.series.empty()) continue;  // kube-scheduler's library leaves them out, too.
    std::vector<size_t> order(metric.labels.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&metric](size_t i) { return metric.labels[i]; });
    std::ranges::sort(metric.series, {}, [&order](const MetricTable::Series& series) {
      std::vector<std::string> values;
      values.reserve(order.size());
      for (const size_t i : order) values.push_back(series.label_values[i]);
      return values;
    });
    AppendMetric(page, metric, order);
  }
  return page;
}

std::string MetricsPage(const MetricTable& table, const std::function<std::string()>& more) {
  std::vector<MetricTable::Metric> metrics = table.Read();
  std::ranges::move(ToProcessMetrics(ReadProcessTexts()), std::back_inserter(metrics));
  std::string page = ToMetricsText(std::move(metrics));
  if (more) page += more();
  return page;
}

}  // namespace berth::host
