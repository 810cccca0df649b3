// The metrics of plugins.
#ifndef BERTH_HOST_RUNTIME_SERVICES_METRIC_STORE_H_
#define BERTH_HOST_RUNTIME_SERVICES_METRIC_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/internal/metric_rules.h>

#include "host/base/status.h"
#include "host/runtime/services/metric_cell.h"

namespace berth::host {

// The metrics of plugins. The metrics of the host are in a MetricTable.
//
// Berth has its own store, because prometheus-cpp's registry does not record which plugin owns a
// name, whether two definitions agree, and how many series there may be. It would only add and
// print numbers, at the price of a map of strings per observation, and Debian's package depends on
// a web server and an HTTP client.
//
// Threading: any.
// Lifetime:  must outlive its metrics.
class MetricStore {
 public:
  // How many series one metric may have.
  static constexpr size_t kMaxSeries = internal::kMaxSeriesOfMetric;

  // A metric of one instance. Values stay when the instance is destroyed, so that counters continue
  // with the next one.
  class Metric;

  // Returns a metric for one plugin and profile. Equal definitions by the same plugin are one
  // metric, in several profiles and for an instance that replaces another. Begin() activates a
  // different definition, or that of another plugin, because a plugin may be renamed; from then on,
  // instances with the old definition may still observe, but Read() does not return their values.
  // Errors: InvalidArgument for an invalid name, label or bucket; AlreadyExists if another instance
  //         that has not begun either belongs to another plugin or defines the name differently.
  Result<std::shared_ptr<Metric>> Define(MetricFamily family, std::string_view plugin,
                                         std::string_view profile);
  // Activates the definition, because the instance that has the metric is activated.
  // Threading: the thread of Define().
  void Begin(Metric& metric);

  // Returns the series with these label values, which the first call creates. Observations of it
  // need no lock.
  // REQUIRES: one value per label name.
  // Errors: OutOfRange if the metric has kMaxSeries others.
  Result<std::shared_ptr<MetricCell>> SeriesOf(Metric& metric,
                                               std::span<const std::string_view> label_values);

  // Returns all metrics, by name. Their first labels are "plugin" and "profile". The series are
  // sorted by label values.
  std::vector<MetricTable::Metric> Read() const;

 private:
  struct Entry;
  struct Name {
    std::shared_ptr<Entry> entry;  // The active definition.
    std::weak_ptr<Entry> next;     // Becomes active when its instance is activated.
  };

  static Status Conflict(const Entry& entry, bool is_other_owner);

  mutable std::mutex mutex_;  // Guards what follows and every entry.
  std::map<std::string, Name, std::less<>> names_;
};

// Returns the default buckets: seconds, from 1 ms to 16 s.
std::span<const double> DefaultBuckets();

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_METRIC_STORE_H_
