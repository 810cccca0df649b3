// ToText(): metrics as text. (prometheus.io/docs/instrumenting/exposition_formats)
#include "host/base/metric_text.h"

#include <string>
#include <string_view>
#include <vector>

#include "host/runtime/services/metric_store.h"

namespace berth::host {
namespace {

std::string Labels(const MetricFamily& family, const MetricSeries& series) {
  std::string labels;
  AppendMetricLabel(labels, "plugin", series.plugin);
  AppendMetricLabel(labels, "profile", series.profile);
  for (size_t i = 0; i < family.label_names.size(); ++i) {
    AppendMetricLabel(labels, family.label_names[i], series.label_values[i]);
  }
  return labels;
}

void AppendHistogram(std::string& out, const MetricFamily& family, const MetricSeries& series) {
  std::vector<uint64_t> counts = series.bucket_counts;
  uint64_t below = 0;
  for (const uint64_t count : counts) below += count;
  counts.push_back(series.count - below);
  AppendMetricHistogram(out, family.name, Labels(family, series), family.buckets, counts,
                        series.value);
}

std::string_view TypeName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter: return "counter";
    case MetricKind::kGauge: return "gauge";
    case MetricKind::kHistogram: return "histogram";
  }
  return "untyped";
}

}  // namespace

std::string ToText(std::span<const MetricStore::Family> families) {
  std::string out;
  for (const auto& [family, all] : families) {
    AppendMetricHead(out, family.name, family.help, TypeName(family.kind));
    for (const MetricSeries& series : all) {
      if (family.kind == MetricKind::kHistogram) {
        AppendHistogram(out, family, series);
      } else {
        AppendMetricLine(out, family.name, Labels(family, series), series.value);
      }
    }
  }
  return out;
}

}  // namespace berth::host
