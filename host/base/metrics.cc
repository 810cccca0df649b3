#include "host/base/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "host/base/assert.h"

namespace berth::host {

// ---- Histogram ----------------------------------------------------------------------------------

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), buckets_(bounds_.size() + 1) {
  BERTH_ASSERT(std::ranges::adjacent_find(bounds_, std::greater_equal<>()) == bounds_.end());
}

void Histogram::Observe(double value) {
  const auto bound =
      std::ranges::partition_point(bounds_, [value](double below) { return !(value <= below); });
  const auto bucket = static_cast<size_t>(bound - bounds_.begin());
  buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Values Histogram::Read() const {
  Values values;
  values.sum = sum_.load(std::memory_order_relaxed);
  values.buckets.reserve(buckets_.size());
  for (const auto& bucket : buckets_) {
    values.buckets.push_back(bucket.load(std::memory_order_relaxed));
  }
  return values;
}

std::vector<double> ExponentialBounds(double start, double factor, size_t count) {
  BERTH_ASSERT(start > 0 && factor > 1 && count > 0);
  std::vector<double> bounds;
  bounds.reserve(count);
  for (double bound = start; bounds.size() < count; bound *= factor) bounds.push_back(bound);
  return bounds;
}

// ---- InstrumentFamily ---------------------------------------------------------------------------

template <class T>
T& InstrumentFamily<T>::With(std::initializer_list<std::string_view> values) {
  BERTH_ASSERT_MSG(values.size() == labels_, "%zu values for %zu labels", values.size(), labels_);
  const std::lock_guard lock(mutex_);
  if (const auto found = series_.find(values); found != series_.end()) return *found->second;
  if (series_.size() < max_series_) {
    return *(series_[std::vector<std::string>(values.begin(), values.end())] = make_());
  }
  if (unlisted_ == nullptr) unlisted_ = make_();
  return *unlisted_;
}

template <class T>
void InstrumentFamily<T>::ForEach(
    const std::function<void(std::span<const std::string>, const T&)>& each) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [values, instrument] : series_) each(values, *instrument);
}

template class InstrumentFamily<Counter>;
template class InstrumentFamily<Gauge>;
template class InstrumentFamily<Histogram>;

// ---- MetricTable --------------------------------------------------------------------------------

template <class T>
InstrumentFamily<T>& MetricTable::Add(Metric metric, typename InstrumentFamily<T>::Make make) {
  for (const Entry& entry : entries_) {
    BERTH_ASSERT_MSG(entry.metric.name != metric.name, "%s was added before", metric.name.c_str());
  }
  const auto family =
      std::make_shared<InstrumentFamily<T>>(metric.labels.size(), kMaxSeries, std::move(make));
  if (metric.labels.empty()) family->With({});
  entries_.push_back({std::move(metric), [family](std::vector<Series>& series) {
                        family->ForEach([&](std::span<const std::string> values, const T& from) {
                          Series& to = series.emplace_back();
                          to.label_values.assign(values.begin(), values.end());
                          if constexpr (std::is_same_v<T, Histogram>) {
                            to.histogram = from.Read();
                          } else {
                            to.value = static_cast<double>(from.value());
                          }
                        });
                      }});
  return *family;
}

CounterFamily& MetricTable::AddCounter(std::string name, std::string help,
                                       std::vector<std::string> labels) {
  return Add<Counter>({Metric::Kind::kCounter, std::move(name), std::move(help), std::move(labels)},
                      std::make_unique<Counter>);
}

GaugeFamily& MetricTable::AddGauge(std::string name, std::string help,
                                   std::vector<std::string> labels) {
  return Add<Gauge>({Metric::Kind::kGauge, std::move(name), std::move(help), std::move(labels)},
                    std::make_unique<Gauge>);
}

HistogramFamily& MetricTable::AddHistogram(std::string name, std::string help,
                                           std::vector<std::string> labels,
                                           std::vector<double> bounds) {
  return Add<Histogram>(
      {Metric::Kind::kHistogram, std::move(name), std::move(help), std::move(labels), bounds},
      [bounds] { return std::make_unique<Histogram>(bounds); });
}

void MetricTable::AddRefresh(std::function<void()> refresh) {
  refreshes_.push_back(std::move(refresh));
}

std::vector<MetricTable::Metric> MetricTable::Read() const {
  for (const auto& refresh : refreshes_) refresh();
  std::vector<Metric> metrics;
  metrics.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    entry.read(metrics.emplace_back(entry.metric).series);
  }
  return metrics;
}

// ---- Text ---------------------------------------------------------------------------------------

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

constexpr std::array kKindNames = {"counter", "gauge", "histogram"};  // By Metric::Kind.

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
    out.append("\n# TYPE ")
        .append(metric.name)
        .append(" ")
        .append(kKindNames[static_cast<size_t>(metric.kind)]);
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
