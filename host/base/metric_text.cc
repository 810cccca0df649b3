#include "host/base/metric_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

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

void AppendMetricLabel(std::string& labels, std::string_view name, std::string_view value) {
  if (!labels.empty()) labels += ',';
  labels.append(name).append("=\"");
  AppendEscaped(labels, value, true);
  labels += '"';
}

void AppendMetricHead(std::string& out, std::string_view name, std::string_view help,
                      std::string_view type) {
  out.append("# HELP ").append(name).append(" ");
  AppendEscaped(out, help, false);
  out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void AppendMetricLine(std::string& out, std::string_view name, std::string_view labels,
                      double value) {
  out.append(name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(FormatMetricNumber(value)).append("\n");
}

void AppendMetricHistogram(std::string& out, std::string_view name, const std::string& labels,
                           std::span<const double> bounds, std::span<const uint64_t> counts,
                           double sum) {
  BERTH_ASSERT(counts.size() == bounds.size() + 1);
  const std::string bucket = std::string(name) + "_bucket";
  uint64_t below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    std::string with_bound = labels;
    AppendMetricLabel(with_bound, "le",
                      i < bounds.size() ? FormatMetricNumber(bounds[i]) : std::string("+Inf"));
    AppendMetricLine(out, bucket, with_bound, static_cast<double>(below));
  }
  AppendMetricLine(out, std::string(name) + "_sum", labels, sum);
  AppendMetricLine(out, std::string(name) + "_count", labels, static_cast<double>(below));
}

}  // namespace berth::host
