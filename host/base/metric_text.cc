#include "host/base/metric_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/base/assert.h"

namespace berth::host {
namespace {

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

// Returns the decimal exponent of a finite number other than 0.
int DecimalExponent(double value) {
  std::array<char, 32> text;
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific)
          .ptr;
  const std::string_view digits(text.data(), static_cast<size_t>(end - text.data()));
  std::string_view exponent = digits.substr(digits.find('e') + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int number = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), number);
  return number;
}

// Appends `name="value"` to a list of labels, after a comma if the list is not empty.
void AppendLabel(std::string& labels, std::string_view name, std::string_view value) {
  if (!labels.empty()) labels += ',';
  labels.append(name).append("=\"");
  AppendEscaped(labels, value, true);
  labels += '"';
}

// Appends the line of one value. `labels`: the list that AppendLabel() made; may be empty.
void AppendLine(std::string& out, std::string_view name, std::string_view labels, double value) {
  out.append(name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(FormatMetricNumber(value)).append("\n");
}

// Appends the lines of one histogram: the cumulative buckets, the sum and the count.
void AppendHistogram(std::string& out, const MetricTable::Metric& metric, const std::string& labels,
                     const Histogram::Values& values) {
  BERTH_ASSERT(values.buckets.size() == metric.bounds.size() + 1);
  const std::string bucket = metric.name + "_bucket";
  uint64_t below = 0;
  for (size_t i = 0; i < values.buckets.size(); ++i) {
    below += values.buckets[i];
    std::string with_bound = labels;
    AppendLabel(with_bound, "le",
                i < metric.bounds.size() ? FormatMetricNumber(metric.bounds[i]) : "+Inf");
    AppendLine(out, bucket, with_bound, static_cast<double>(below));
  }
  AppendLine(out, metric.name + "_sum", labels, values.sum);
  AppendLine(out, metric.name + "_count", labels, static_cast<double>(below));
}

std::string_view KindName(MetricTable::Metric::Kind kind) {
  switch (kind) {
    case MetricTable::Metric::Kind::kCounter: return "counter";
    case MetricTable::Metric::Kind::kGauge: return "gauge";
    case MetricTable::Metric::Kind::kHistogram: return "histogram";
  }
  return "untyped";
}

}  // namespace

std::string FormatMetricNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == 0) return "0";
  constexpr int kLeastFixed = -4;
  constexpr int kMostFixed = 5;
  const int exponent = DecimalExponent(value);
  const bool is_fixed = exponent >= kLeastFixed && exponent <= kMostFixed;
  std::array<char, 40> text;
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    is_fixed ? std::chars_format::fixed : std::chars_format::scientific)
          .ptr;
  return {text.data(), static_cast<size_t>(end - text.data())};
}

std::string ToText(std::span<const MetricTable::Metric> metrics) {
  std::string out;
  for (const MetricTable::Metric& metric : metrics) {
    out.append("# HELP ").append(metric.name).append(" ");
    AppendEscaped(out, metric.help, false);
    out.append("\n# TYPE ").append(metric.name).append(" ").append(KindName(metric.kind));
    out.append("\n");
    for (const MetricTable::Series& series : metric.series) {
      std::string labels;
      for (size_t i = 0; i < metric.labels.size(); ++i) {
        AppendLabel(labels, metric.labels[i], series.label_values[i]);
      }
      if (metric.kind == MetricTable::Metric::Kind::kHistogram) {
        AppendHistogram(out, metric, labels, series.histogram);
      } else {
        AppendLine(out, metric.name, labels, series.value);
      }
    }
  }
  return out;
}

}  // namespace berth::host
