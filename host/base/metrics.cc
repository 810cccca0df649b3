#include "host/base/metrics.h"

#include <algorithm>

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
  std::vector<std::string> key(values.begin(), values.end());
  const std::lock_guard lock(mutex_);
  if (const auto found = series_.find(key); found != series_.end()) return *found->second;
  if (series_.size() < max_series_) return *(series_[std::move(key)] = make_());
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

// A metric; only the family of its kind is not null.
struct MetricTable::Entry {
  Metric::Kind kind = Metric::Kind::kCounter;
  std::string name;
  std::string help;
  std::vector<std::string> labels;
  std::vector<double> bounds;
  std::unique_ptr<CounterFamily> counters;
  std::unique_ptr<GaugeFamily> gauges;
  std::unique_ptr<HistogramFamily> histograms;
};

MetricTable::MetricTable() = default;
MetricTable::~MetricTable() = default;

MetricTable::Entry& MetricTable::Add(Metric::Kind kind, std::string name, std::string help,
                                     std::vector<std::string> labels) {
  for (const auto& entry : entries_) {
    BERTH_ASSERT_MSG(entry->name != name, "%s was added before", name.c_str());
  }
  entries_.push_back(std::make_unique<Entry>());
  Entry& entry = *entries_.back();
  entry.kind = kind;
  entry.name = std::move(name);
  entry.help = std::move(help);
  entry.labels = std::move(labels);
  return entry;
}

CounterFamily& MetricTable::AddCounter(std::string name, std::string help,
                                       std::vector<std::string> labels) {
  Entry& entry = Add(Metric::Kind::kCounter, std::move(name), std::move(help), std::move(labels));
  entry.counters = std::make_unique<CounterFamily>(entry.labels.size(), kMaxSeries,
                                                   [] { return std::make_unique<Counter>(); });
  if (entry.labels.empty()) entry.counters->With({});
  return *entry.counters;
}

GaugeFamily& MetricTable::AddGauge(std::string name, std::string help,
                                   std::vector<std::string> labels) {
  Entry& entry = Add(Metric::Kind::kGauge, std::move(name), std::move(help), std::move(labels));
  entry.gauges = std::make_unique<GaugeFamily>(entry.labels.size(), kMaxSeries,
                                               [] { return std::make_unique<Gauge>(); });
  if (entry.labels.empty()) entry.gauges->With({});
  return *entry.gauges;
}

HistogramFamily& MetricTable::AddHistogram(std::string name, std::string help,
                                           std::vector<std::string> labels,
                                           std::vector<double> bounds) {
  Entry& entry = Add(Metric::Kind::kHistogram, std::move(name), std::move(help), std::move(labels));
  entry.bounds = bounds;
  entry.histograms = std::make_unique<HistogramFamily>(
      entry.labels.size(), kMaxSeries,
      [bounds = std::move(bounds)] { return std::make_unique<Histogram>(bounds); });
  if (entry.labels.empty()) entry.histograms->With({});
  return *entry.histograms;
}

void MetricTable::AddRefresh(std::function<void()> refresh) {
  refreshes_.push_back(std::move(refresh));
}

std::vector<MetricTable::Metric> MetricTable::Read() const {
  for (const auto& refresh : refreshes_) refresh();
  std::vector<Metric> metrics;
  metrics.reserve(entries_.size());
  for (const auto& entry : entries_) {
    Metric& metric = metrics.emplace_back();
    metric.kind = entry->kind;
    metric.name = entry->name;
    metric.help = entry->help;
    metric.labels = entry->labels;
    metric.bounds = entry->bounds;
    const auto add = [&metric](std::span<const std::string> values) -> Series& {
      Series& series = metric.series.emplace_back();
      series.label_values.assign(values.begin(), values.end());
      return series;
    };
    const auto add_number = [&add](std::span<const std::string> values, const auto& instrument) {
      add(values).value = static_cast<double>(instrument.value());
    };
    if (entry->counters) entry->counters->ForEach(add_number);
    if (entry->gauges) entry->gauges->ForEach(add_number);
    if (entry->histograms) {
      entry->histograms->ForEach(
          [&add](std::span<const std::string> values, const Histogram& histogram) {
            add(values).histogram = histogram.Read();
          });
    }
  }
  return metrics;
}

}  // namespace berth::host
