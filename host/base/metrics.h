// The instruments that the host measures itself with, the table that lists them, and its text in
// the format of Prometheus. An observation takes no lock.
#ifndef BERTH_HOST_BASE_METRICS_H_
#define BERTH_HOST_BASE_METRICS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::host {

// Threading: any.
class Counter {
 public:
  void Add(uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_ = 0;
};

// Threading: any.
class Gauge {
 public:
  void Set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void Add(int64_t change) { value_.fetch_add(change, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

// Threading: any.
class Histogram {
 public:
  // `bounds`: the upper bounds of the buckets, ascending, without +Inf.
  explicit Histogram(std::vector<double> bounds);

  // Counts the value in the first bucket whose bound is not below it. NaN counts as +Inf.
  void Observe(double value);
  // Observes a duration in seconds.
  void ObserveNs(int64_t nanoseconds) { Observe(static_cast<double>(nanoseconds) * 1e-9); }

  struct Values {
    double sum = 0;
    std::vector<uint64_t> buckets;  // Not cumulative; the last one is +Inf.
  };
  // The buckets and the sum may belong to slightly different moments.
  Values Read() const;
  const std::vector<double>& bounds() const { return bounds_; }

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<uint64_t>> buckets_;
  std::atomic<double> sum_ = 0;
};

// Returns `count` bounds: start, start * factor, start * factor^2 ... This is
// component-base/metrics.ExponentialBuckets, which kube-scheduler uses. Each bound is the one
// before it times the factor, so that the bounds are rounded as those of kube-scheduler are.
// REQUIRES: start > 0, factor > 1, count > 0.
std::vector<double> ExponentialBounds(double start, double factor, size_t count);

// The instruments of one metric, one per list of label values.
// Threading: any. With() takes a lock: code on a hot path keeps the reference that it returns.
template <class T>
class InstrumentFamily {
 public:
  using Make = std::function<std::unique_ptr<T>()>;

  InstrumentFamily(size_t labels, size_t max_series, Make make)
      : labels_(labels), max_series_(max_series), make_(std::move(make)) {}

  // Returns the instrument with these label values, which the first call creates. If the family is
  // full, returns an instrument that is not listed; a user can never fill the memory through
  // labels.
  // REQUIRES: one value per label.
  // Lifetime: that of the family.
  T& With(std::initializer_list<std::string_view> values);

  // Calls `each(values, instrument)` for every instrument, sorted by label values.
  void ForEach(const std::function<void(std::span<const std::string>, const T&)>& each) const;

 private:
  // Compares lists of texts, of whatever types, so that no list is built to find one.
  struct Before {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(
          a.begin(), a.end(), b.begin(), b.end(),
          [](std::string_view left, std::string_view right) { return left < right; });
    }
  };

  const size_t labels_;
  const size_t max_series_;
  const Make make_;
  mutable std::mutex mutex_;
  std::map<std::vector<std::string>, std::unique_ptr<T>, Before> series_;
  std::unique_ptr<T> unlisted_;
};

using CounterFamily = InstrumentFamily<Counter>;
using GaugeFamily = InstrumentFamily<Gauge>;
using HistogramFamily = InstrumentFamily<Histogram>;

// Every metric of the process, in the order in which they were added. A folder of the host keeps
// the families that it observes in a struct of its own, such as QueueMetrics, which adds them to
// the table when it is constructed.
// Threading: Add*() before any other thread reads; Read() any.
// Lifetime:  must outlive every use of its instruments.
class MetricTable {
 public:
  static constexpr size_t kMaxSeries = 2000;

  MetricTable() = default;
  MetricTable(const MetricTable&) = delete;
  MetricTable& operator=(const MetricTable&) = delete;

  // A metric without labels has its only series from now on, with the value 0.
  // REQUIRES: the name was not added before.
  CounterFamily& AddCounter(std::string name, std::string help, std::vector<std::string> labels);
  GaugeFamily& AddGauge(std::string name, std::string help, std::vector<std::string> labels);
  HistogramFamily& AddHistogram(std::string name, std::string help, std::vector<std::string> labels,
                                std::vector<double> bounds);

  // Adds a function that sets gauges that no code counts while it runs, such as the number of pods
  // in each place of the queue. It is called before each Read(), on the thread of that call.
  void AddRefresh(std::function<void()> refresh);

  struct Series {
    std::vector<std::string> label_values;
    double value = 0;             // The value of a counter or gauge.
    Histogram::Values histogram;  // The values of a histogram.
  };
  struct Metric {
    enum class Kind : uint8_t { kCounter, kGauge, kHistogram } kind = Kind::kCounter;
    std::string name;
    std::string help;
    std::vector<std::string> labels;
    std::vector<double> bounds = {};
    std::vector<Series> series = {};
  };
  // Returns the metrics in the order in which they were added, each with its series sorted by label
  // values.
  std::vector<Metric> Read() const;

 private:
  struct Entry {
    Metric metric;  // Without its series.
    // Appends the current series. Owns the family.
    std::function<void(std::vector<Series>& series)> read;
  };

  template <class T>
  InstrumentFamily<T>& Add(Metric metric, typename InstrumentFamily<T>::Make make);

  std::vector<Entry> entries_;
  std::vector<std::function<void()>> refreshes_;
};

// Returns the shortest text that is read as the same number. Numbers below 1e-4 and from 1e+06 on
// have an exponent, as Go's client of Prometheus writes them (strconv.FormatFloat(value, 'g', -1,
// 64)), so that the label "le" of a bucket is equal to that of kube-scheduler. The other values are
// "+Inf", "-Inf" and "NaN".
std::string FormatMetricNumber(double value);

// Returns the text of metrics in the text format of Prometheus, version 0.0.4, in their order
// (prometheus.io/docs/instrumenting/exposition_formats). The labels of a series are in the order of
// Metric::labels.
std::string ToText(std::span<const MetricTable::Metric> metrics);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_METRICS_H_
