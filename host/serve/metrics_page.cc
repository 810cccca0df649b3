#include "host/serve/metrics_page.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "host/base/metrics.h"
#include "host/serve/process_metrics.h"

namespace berth::host {
namespace {

// Puts `values` into the order of `places`.
std::vector<std::string> Ordered(const std::vector<std::string>& values,
                                 const std::vector<size_t>& places) {
  std::vector<std::string> ordered;
  ordered.reserve(places.size());
  for (const size_t place : places) ordered.push_back(values[place]);
  return ordered;
}

// Sorts the labels of the metric by name, and its series by their values.
void SortLabels(MetricTable::Metric& metric) {
  std::vector<size_t> places(metric.labels.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::sort(places, {}, [&metric](size_t i) { return metric.labels[i]; });
  metric.labels = Ordered(metric.labels, places);
  for (MetricTable::Series& series : metric.series) {
    series.label_values = Ordered(series.label_values, places);
  }
  std::ranges::sort(metric.series, {}, &MetricTable::Series::label_values);
}

}  // namespace

std::string ToMetricsText(std::vector<MetricTable::Metric> metrics) {
  // kube-scheduler's library leaves out metrics without series, too.
  std::erase_if(metrics, [](const MetricTable::Metric& metric) { return metric.series.empty(); });
  std::ranges::sort(metrics, {}, &MetricTable::Metric::name);
  std::ranges::for_each(metrics, SortLabels);
  return ToText(metrics);
}

std::string MetricsPage(const MetricTable& table, const std::function<std::string()>& more) {
  std::vector<MetricTable::Metric> metrics = table.Read();
  std::ranges::move(ToProcessMetrics(ReadProcessTexts()), std::back_inserter(metrics));
  std::string page = ToMetricsText(std::move(metrics));
  if (more) page += more();
  return page;
}

}  // namespace berth::host
