// The state of the service berth.metrics/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICE_METRICS_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICE_METRICS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <berth/abi.h>

#include "host/base/status.h"
#include "host/runtime/services/metric_store.h"

namespace berth::host {

class InstanceHost;

// Threading: any.
class PluginMetrics {
 public:
  explicit PluginMetrics(InstanceHost& host) : host_(host) {}
  PluginMetrics(const PluginMetrics&) = delete;
  PluginMetrics& operator=(const PluginMetrics&) = delete;

  // Returns the index of the metric. Errors: those of MetricStore::Define; AlreadyExists if this
  // instance has defined the name before.
  Result<uint32_t> Define(MetricFamily family);
  // Implements berth_metrics.series.
  berth_code Series(uint32_t index, const berth_str* label_values, uint64_t* handle);
  // Activates the definitions; see MetricStore::Begin().
  void Begin();

 private:
  struct Known {
    std::shared_ptr<MetricStore::Metric> metric;
    std::string name;
    size_t labels;
  };

  // Returns BUG, and counts a fault for the first time: a plugin that labels by node would
  // otherwise count one for each node.
  berth_code TooManySeries(std::string_view what);

  InstanceHost& host_;
  std::mutex mutex_;  // Guards what follows.
  std::vector<Known> known_;
  bool had_too_many_ = false;
  std::unordered_map<const MetricCell*, uint64_t> handles_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICE_METRICS_H_
