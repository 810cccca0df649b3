// The service berth.metrics/1.
#include "host/runtime/service_metrics.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

berth_code DefineMetric(const berth_host* host, const berth_metric* metric,
                        uint32_t* index) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLoadWord)) return BERTH_CONFLICT;
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

void ObserveMetric(const berth_host* host, uint32_t index, const berth_str* label_values,
                   double value) noexcept {
  const HostUse instance(host);
  if (instance) instance->metrics().Observe(index, label_values, value);
}

constexpr berth_metrics kMetrics{sizeof(berth_metrics), 0, DefineMetric, ObserveMetric};

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
  const std::shared_lock lock(mutex_);
  for (const Known& known : known_) host_.services().metrics->Begin(*known.metric);
}

void PluginMetrics::Observe(uint32_t index, const berth_str* label_values, double value) {
  constexpr size_t kFew = 8;
  const std::shared_lock lock(mutex_);
  if (index >= known_.size()) return;
  const Known& known = known_[index];
  std::array<std::string_view, kFew> few;
  std::vector<std::string_view> many;
  if (known.labels > kFew) many.resize(known.labels);
  const std::span<std::string_view> values =
      known.labels > kFew ? std::span(many) : std::span(few).first(known.labels);
  for (size_t i = 0; i < values.size(); ++i) values[i] = Text(label_values[i]);
  host_.services().metrics->Observe(*known.metric, values, value);
}

}  // namespace berth::host
