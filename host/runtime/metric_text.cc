// ToText(): metrics as text. (prometheus.io/docs/instrumenting/exposition_formats)
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "host/runtime/metric_store.h"

namespace berth::host {
namespace {

std::string Number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return {text, end};
}

void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
}

void AppendLabel(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  out.append(name).append("=\"");
  AppendEscaped(out, value, true);
  out += '"';
}

std::string Labels(const MetricFamily& family, const MetricSeries& series) {
  std::string labels;
  AppendLabel(labels, "plugin", series.plugin);
  AppendLabel(labels, "profile", series.profile);
  for (size_t i = 0; i < family.label_names.size(); ++i) {
    AppendLabel(labels, family.label_names[i], series.label_values[i]);
  }
  return labels;
}

void AppendLine(std::string& out, const std::string& name, const std::string& labels,
                const std::string& value) {
  out.append(name).append("{").append(labels).append("} ").append(value).append("\n");
}

void AppendHistogram(std::string& out, const MetricFamily& family, const MetricSeries& series) {
  const std::string labels = Labels(family, series);
  const auto bucket = [&](const std::string& bound, uint64_t count) {
    AppendLine(out, family.name + "_bucket", labels + ",le=\"" + bound + "\"",
               std::to_string(count));
  };
  uint64_t below = 0;
  for (size_t i = 0; i < family.buckets.size(); ++i) {
    below += series.bucket_counts[i];
    bucket(Number(family.buckets[i]), below);
  }
  bucket("+Inf", series.count);
  AppendLine(out, family.name + "_sum", labels, Number(series.value));
  AppendLine(out, family.name + "_count", labels, std::to_string(series.count));
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
    out.append("# HELP ").append(family.name).append(" ");
    AppendEscaped(out, family.help, false);
    out.append("\n# TYPE ").append(family.name).append(" ");
    out.append(TypeName(family.kind)).append("\n");
    for (const MetricSeries& series : all) {
      if (family.kind == MetricKind::kHistogram) {
        AppendHistogram(out, family, series);
      } else {
        AppendLine(out, family.name, Labels(family, series), Number(series.value));
      }
    }
  }
  return out;
}

}  // namespace berth::host
