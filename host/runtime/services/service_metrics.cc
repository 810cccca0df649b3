// The service berth.metrics/1.
#include "host/runtime/services/service_metrics.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "host/base/foreign_struct.h"
#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

berth_code DefineMetric(const berth_host* host, const berth_metric* metric,
                        uint32_t* index) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLoadWord) || instance.is_closed()) return BERTH_CONFLICT;
  if (metric->struct_size < BERTH_FIRST_SIZE(berth_metric, n_buckets)) return BERTH_BAD_ARGUMENT;
  MetricFamily family{.name = std::string(Text(metric->name)),
                      .help = std::string(Text(metric->help))};
  switch (metric->kind) {
    case BERTH_METRIC_COUNTER: family.kind = MetricKind::kCounter; break;
    case BERTH_METRIC_GAUGE: family.kind = MetricKind::kGauge; break;
    case BERTH_METRIC_HISTOGRAM: family.kind = MetricKind::kHistogram; break;
    default: return BERTH_BAD_ARGUMENT;
  }
  for (uint64_t i = 0; i < metric->n_labels; ++i) {
    family.label_names.emplace_back(Text(metric->label_names[i]));
  }
  if (family.kind == MetricKind::kHistogram) {
    const std::span own(metric->buckets, metric->n_buckets);
    const std::span buckets = own.empty() ? DefaultBuckets() : own;
    family.buckets.assign(buckets.begin(), buckets.end());
  }
  const Result<uint32_t> defined = instance.metrics().Define(std::move(family));
  if (!defined.ok()) {
    instance.Log(BERTH_LOG_ERROR, defined.status().message());
    return defined.status().code() == ErrorCode::kAlreadyExists ? BERTH_CONFLICT
                                                                : BERTH_BAD_ARGUMENT;
  }
  *index = *defined;
  return BERTH_SUCCESS;
}

berth_code SeriesOfMetric(const berth_host* host, uint32_t index, const berth_str* label_values,
                          uint64_t* series) noexcept {
  const HostUse instance(host);
  return instance ? instance->metrics().Series(index, label_values, series) : BERTH_CANCELLED;
}

// Takes no lock: the series of an instance exist as long as its host.
void ObserveSeries(const berth_host* host, uint64_t series, double value) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (instance.is_retired()) return;
  if (MetricCell* cell = instance.series().Find(series)) cell->Observe(value);
}

constexpr berth_metrics kMetrics{sizeof(berth_metrics), 0, DefineMetric, SeriesOfMetric,
                                 ObserveSeries};

}  // namespace

const berth_metrics* MetricsService() { return &kMetrics; }

// ---- PluginMetrics ------------------------------------------------------------------------------

Result<uint32_t> PluginMetrics::Define(MetricFamily family) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(known_, family.name, &Known::name) != known_.end()) {
    return Status::AlreadyExists("metric " + family.name + " is defined twice");
  }
  std::string name = family.name;
  const size_t labels = family.label_names.size();
  auto metric =
      host_.services().metrics->Define(std::move(family), host_.plugin(), host_.profile());
  if (!metric.ok()) return std::move(metric).status();
  known_.push_back({std::move(metric).value(), std::move(name), labels});
  return static_cast<uint32_t>(known_.size() - 1);
}

void PluginMetrics::Begin() {
  const std::scoped_lock lock(mutex_);
  for (const Known& known : known_) host_.services().metrics->Begin(*known.metric);
}

berth_code PluginMetrics::TooManySeries(std::string_view what) {
  if (!std::exchange(had_too_many_, true)) host_.NoteFaultAtCurrentPoint(what);
  return BERTH_BUG;
}

berth_code PluginMetrics::Series(uint32_t index, const berth_str* label_values, uint64_t* handle) {
  const std::scoped_lock lock(mutex_);
  if (index >= known_.size()) return BERTH_BAD_ARGUMENT;
  const Known& known = known_[index];
  std::vector<std::string_view> values;
  values.reserve(known.labels);
  for (size_t i = 0; i < known.labels; ++i) values.push_back(Text(label_values[i]));
  const auto cell = host_.services().metrics->SeriesOf(*known.metric, values);
  if (!cell.ok()) return TooManySeries(cell.status().message());
  const auto found = handles_.find(cell->get());
  if (found != handles_.end()) {
    *handle = found->second;
    return BERTH_SUCCESS;
  }
  if (host_.series().size() >= SeriesTable::kMaxSeries) {
    return TooManySeries("has more than " + std::to_string(SeriesTable::kMaxSeries) +
                         " series of metrics");
  }
  *handle = host_.series().Add(*cell);
  handles_.emplace(cell->get(), *handle);
  return BERTH_SUCCESS;
}

}  // namespace berth::host
