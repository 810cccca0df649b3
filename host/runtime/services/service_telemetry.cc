// berth.log/1 and berth.metrics/1.
#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "host/base/foreign_struct.h"
#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// --- berth.log/1 ---------------------------------------------------------------------------------

void LogMessage(const berth_host* host, uint32_t level, berth_str message,
                const berth_str_pair* pairs, uint64_t count) noexcept {
  const HostUse instance(host);
  if (!instance) return;
  const uint32_t least = instance->context().log_level.get();
  level = std::min<uint32_t>(level, BERTH_LOG_ERROR);
  if (level < least) return;
  std::vector<LogField> fields;
  fields.reserve(count);
  for (const berth_str_pair& pair : std::span(pairs, count)) {
    fields.push_back({.key = Text(pair.key), .value = Text(pair.value)});
  }
  instance->Log(level, Text(message), fields);
}

// Each instance has its own functions, with a reference to the level, because its plugin reads the
// level without a call.
class LogState final : public ServiceState {
 public:
  explicit LogState(const InstanceHost& host)
      : level_(host.context().log_level),
        functions_{sizeof(berth_log), 0, level_.word(), LogMessage} {}
  const void* functions() const override { return &functions_; }

 private:
  const SharedLogLevel level_;
  const berth_log functions_;
};

// --- berth.metrics/1 -----------------------------------------------------------------------------

// The metrics of one instance: their definitions until it is retired, and the handles of their
// series as long as its InstanceHost, because observations take no lock.
// Threading: any.
class PluginMetrics final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kMetrics;

  explicit PluginMetrics(InstanceHost& host)
      : host_(host), definitions_(std::make_unique<Definitions>()) {}

  // REQUIRES for Define() and Series(): the host is not retired.

  // Returns the index of the metric. Errors: those of MetricStore::Define; AlreadyExists if this
  // instance has defined the name before.
  Result<uint32_t> Define(MetricFamily family) {
    const std::scoped_lock lock(definitions_->mutex);
    if (std::ranges::find(definitions_->known, family.name, &Known::name) !=
        definitions_->known.end()) {
      return Status::AlreadyExists("metric " + family.name + " is defined twice");
    }
    std::string name = family.name;
    const size_t labels = family.label_names.size();
    auto metric =
        ServicesOf(host_).metrics->Define(std::move(family), host_.plugin(), host_.profile());
    if (!metric.ok()) return std::move(metric).status();
    definitions_->known.push_back({std::move(metric).value(), std::move(name), labels});
    return static_cast<uint32_t>(definitions_->known.size() - 1);
  }
  // Implements berth_metrics.series.
  berth_code Series(uint32_t index, const berth_str* label_values, uint64_t* handle) {
    const std::scoped_lock lock(definitions_->mutex);
    if (index >= definitions_->known.size()) return BERTH_BAD_ARGUMENT;
    const Known& known = definitions_->known[index];
    std::vector<std::string_view> values;
    values.reserve(known.labels);
    for (size_t i = 0; i < known.labels; ++i) values.push_back(Text(label_values[i]));
    const auto cell = ServicesOf(host_).metrics->SeriesOf(*known.metric, values);
    if (!cell.ok()) return TooManySeries(cell.status().message());
    const auto found = definitions_->handles.find(cell->get());
    if (found != definitions_->handles.end()) {
      *handle = found->second;
      return BERTH_SUCCESS;
    }
    if (series_.size() >= SeriesTable::kMaxSeries) {
      return TooManySeries("has more than " + std::to_string(SeriesTable::kMaxSeries) +
                           " series of metrics");
    }
    *handle = series_.Add(*cell);
    definitions_->handles.emplace(cell->get(), *handle);
    return BERTH_SUCCESS;
  }
  // Activates the definitions; see MetricStore::Begin().
  void Begin() override {
    const std::scoped_lock lock(definitions_->mutex);
    for (const Known& known : definitions_->known) ServicesOf(host_).metrics->Begin(*known.metric);
  }
  void Drop() override { definitions_ = nullptr; }

  // Returns null for a number that is no handle. Takes no lock.
  MetricCell* FindSeries(uint64_t handle) const { return series_.Find(handle); }

 private:
  struct Known {
    std::shared_ptr<MetricStore::Metric> metric;
    std::string name;
    size_t labels;
  };
  struct Definitions {
    std::mutex mutex;  // Guards what follows, and additions to the series.
    std::vector<Known> known;
    bool had_too_many = false;
    std::unordered_map<const MetricCell*, uint64_t> handles;
  };

  // Returns BUG, and counts a fault for the first time: a plugin that labels by node would
  // otherwise count one for each node.
  berth_code TooManySeries(std::string_view what) {
    if (!std::exchange(definitions_->had_too_many, true)) host_.NoteFaultAtCurrentPoint(what);
    return BERTH_BUG;
  }

  InstanceHost& host_;
  SeriesTable series_;
  std::unique_ptr<Definitions> definitions_;  // Null: the host is retired.
};

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
  const Result<uint32_t> defined = StateOf<PluginMetrics>(instance).Define(std::move(family));
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
  return instance ? StateOf<PluginMetrics>(*instance).Series(index, label_values, series)
                  : BERTH_CANCELLED;
}

// Takes no lock: the series of an instance exist as long as its host.
void ObserveSeries(const berth_host* host, uint64_t series, double value) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (instance.is_retired()) return;
  MetricCell* cell = StateOf<PluginMetrics>(instance).FindSeries(series);
  if (cell != nullptr) cell->Observe(value);
}

constexpr berth_metrics kMetrics{sizeof(berth_metrics), 0, DefineMetric, SeriesOfMetric,
                                 ObserveSeries};

bool HasMetrics(const InstanceHost& host) { return ServicesOf(host).metrics != nullptr; }

}  // namespace

std::span<const ServiceInfo> TelemetryServices() {
  static const std::array services{ServiceInfo{.id = BERTH_SERVICE_LOG,
                                               .create_state = CreateState<LogState>,
                                               .lifetime = StateLifetime::kHost},
                                   ServiceInfo{.id = BERTH_SERVICE_METRICS,
                                               .functions = &kMetrics,
                                               .is_served = HasMetrics,
                                               .create_state = CreateState<PluginMetrics>,
                                               .lifetime = StateLifetime::kHost}};
  return services;
}

}  // namespace berth::host
