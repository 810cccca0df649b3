// The service berth.metrics/1 of the fake host: it records what the plugin observes.
#ifndef BERTH_TESTING_FAKE_METRICS_H_
#define BERTH_TESTING_FAKE_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/report.h>

namespace berth::testing {

struct Metric {
  uint32_t kind = 0;
  std::string help;
  std::vector<std::string> label_names;
  std::vector<double> buckets;  // of a histogram; the host's default if the plugin gives none
  std::vector<std::pair<std::vector<std::string>, double>> observations;  // label values, value
};

// The metrics of one instance.
//
// Threading: any; a test reads all() while no call is in progress.
class FakeMetrics {
 public:
  explicit FakeMetrics(Reporter* reporter) : reporter_(*reporter) {}
  FakeMetrics(const FakeMetrics&) = delete;
  FakeMetrics& operator=(const FakeMetrics&) = delete;

  const std::map<std::string, Metric>& all() const { return metrics_; }
  // Drops what was observed, but keeps the metrics and their series.
  void ForgetObservations();

  static const berth_metrics kService;

 private:
  struct Defined {
    Metric* metric;
    std::string name;
    size_t series;  // how many it has
  };
  struct Series {
    Metric* metric;
    std::vector<std::string> labels;
  };

  static FakeMetrics& Of(const berth_host* host);
  // Reads a definition. Returns what is wrong with it; empty: nothing.
  static std::string Read(const berth_metric& given, std::string* name, Metric* metric);
  // Returns whether the metric or the instance may have no further series, and reports it.
  bool HasTooMany(const Defined& metric);
  static berth_code Define(const berth_host* host, const berth_metric* metric,
                           uint32_t* index) noexcept;
  static berth_code SeriesOf(const berth_host* host, uint32_t index, const berth_str* label_values,
                             uint64_t* series) noexcept;
  static void Observe(const berth_host* host, uint64_t series, double value) noexcept;

  Reporter& reporter_;
  std::mutex mutex_;  // guards what follows
  std::map<std::string, Metric> metrics_;
  std::vector<Defined> order_;
  std::vector<Series> series_;  // handle - 1 -> series
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_FAKE_METRICS_H_
