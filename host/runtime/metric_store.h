// What plugins count and measure, kept until somebody reads it.
#ifndef BERTH_HOST_RUNTIME_METRIC_STORE_H_
#define BERTH_HOST_RUNTIME_METRIC_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

// What is the same for all series of a metric.
struct MetricFamily {
  MetricKind kind = MetricKind::kCounter;
  std::string name;
  std::string help;
  std::vector<std::string> label_names = {};  // Without "plugin" and "profile".
  std::vector<double> buckets = {};           // Of a histogram: upper bounds, ascending.

  friend bool operator==(const MetricFamily&, const MetricFamily&) = default;
};

// One line of the table, or several for a histogram.
struct MetricSeries {
  std::string plugin;
  std::string profile;
  std::vector<std::string> label_values;
  double value = 0;    // A histogram's: the sum of what was observed.
  uint64_t count = 0;  // A histogram's observations.
  std::vector<uint64_t>
      bucket_counts;  // Of each bucket alone; what lies beyond the last is in none.
};

// A store of our own and not prometheus-cpp's registry: who owns a name, whether two definitions
// agree, and how many series there may be would have to be kept beside it; what it would take over
// is adding and printing numbers, for a map of strings per observation, and Debian's package brings
// a web server and an HTTP client along.
//
// Threading: any.
// Lifetime:  longer than what it gave out.
class MetricStore {
 public:
  // How many series one metric may have before new ones are dropped: who labels by pod would fill
  // the memory.
  static constexpr size_t kMaxSeries = 2000;

  // A metric of one instance. Values stay when it goes: counters go on with the next one.
  class Metric;

  // The metric for one plugin and profile. The same definition by the same plugin is one metric:
  // of another profile, or of an instance that takes the place of another. Another definition is
  // what the name means from Begin() on; then whoever has the old one may go on to observe, and
  // nobody reads it.
  // Errors: InvalidArgument for a name, label, or bucket that a metric may not have; AlreadyExists
  //         when the name is another plugin's, or means something else to one that has not begun
  //         either: both are to stand side by side.
  Result<std::shared_ptr<Metric>> Define(MetricFamily family, std::string_view plugin,
                                         std::string_view profile);
  // The instance that has the metric is there and will be used. Threading: the thread of Define().
  void Begin(Metric& metric);

  // Adds to a counter, sets a gauge, counts in a histogram. What a counter cannot take (a negative
  // number) and what is no number is passed over.
  // REQUIRES: a value per name of a label.
  void Observe(Metric& metric, std::span<const std::string_view> label_values, double value);

  struct Family {
    MetricFamily family;
    std::vector<MetricSeries> series;  // By plugin, profile and values.
  };
  // By name.
  std::vector<Family> Read() const;
  // The series that were dropped, see kMaxSeries.
  uint64_t dropped() const;

 private:
  struct Entry;
  struct Name {
    std::string plugin;            // Whose it is.
    std::shared_ptr<Entry> entry;  // What it means.
    std::weak_ptr<Entry> next;     // What it will mean if somebody begins.
  };

  mutable std::mutex mutex_;  // Guards what follows and every entry.
  std::map<std::string, Name, std::less<>> names_;
  uint64_t dropped_ = 0;
};

// Everything in the text format that Prometheus reads (version 0.0.4).
std::string ToText(std::span<const MetricStore::Family> families);

// The host's own buckets: seconds from 1 ms to 16 s.
std::span<const double> DefaultBuckets();

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_METRIC_STORE_H_
