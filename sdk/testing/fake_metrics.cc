#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/metric_rules.h>
#include <berth/testing/argument.h>
#include <berth/testing/call.h>
#include <berth/testing/fake_metrics.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>

namespace berth::testing {

const berth_metrics FakeMetrics::kService{sizeof(berth_metrics), 0, &Define, &SeriesOf, &Observe};

FakeMetrics& FakeMetrics::Of(const berth_host* host) { return Services::Of(host).metrics(); }

std::string FakeMetrics::Read(const berth_metric& given, std::string* name, Metric* metric) {
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_metric, n_buckets);
  if (given.struct_size < kFirstSize) {
    return "with a struct_size of " + std::to_string(given.struct_size) + "; expected at least " +
           std::to_string(kFirstSize);
  }
  if (given.kind < BERTH_METRIC_COUNTER || given.kind > BERTH_METRIC_HISTOGRAM) {
    return "with the unknown kind " + std::to_string(given.kind);
  }
  *name = FromAbi(given.name);
  metric->kind = given.kind;
  metric->help = FromAbi(given.help);
  for (uint64_t i = 0; i < given.n_labels; ++i) {
    metric->label_names.emplace_back(FromAbi(given.label_names[i]));
  }
  const bool is_histogram = given.kind == BERTH_METRIC_HISTOGRAM;
  if (is_histogram && given.n_buckets == 0) {
    metric->buckets.assign(berth::internal::kDefaultBuckets.begin(),
                           berth::internal::kDefaultBuckets.end());
  } else if (is_histogram) {
    metric->buckets.assign(given.buckets, given.buckets + given.n_buckets);
  }
  const std::string wrong = berth::internal::WrongMetric({.name = *name,
                                                          .is_histogram = is_histogram,
                                                          .label_names = metric->label_names,
                                                          .buckets = metric->buckets});
  return wrong.empty() ? wrong : "with a wrong definition: " + wrong;
}

void FakeMetrics::ForgetObservations() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, metric] : metrics_) metric.observations.clear();
}

berth_code FakeMetrics::Define(const berth_host* host, const berth_metric* metric,
                               uint32_t* index) noexcept {
  FakeMetrics& self = Of(host);
  if (!ExpectWord(self.reporter_, "metrics.define", kLoad)) return BERTH_CONFLICT;
  if (static_cast<Services*>(host->impl)->is_closed()) {
    self.reporter_.Fail(Check::kShape, "defines a metric after create()");
    return BERTH_CONFLICT;
  }
  std::string name;
  Metric defined;
  if (const std::string wrong = Read(*metric, &name, &defined); !wrong.empty()) {
    self.reporter_.Fail(Check::kShape, "calls metrics.define " + wrong);
    return BERTH_BAD_ARGUMENT;
  }
  const std::lock_guard lock(self.mutex_);
  const auto [at, fresh] = self.metrics_.try_emplace(std::move(name), std::move(defined));
  if (!fresh) return BERTH_CONFLICT;
  self.order_.push_back({&at->second, at->first, 0});
  *index = static_cast<uint32_t>(self.order_.size() - 1);
  return BERTH_SUCCESS;
}

berth_code FakeMetrics::SeriesOf(const berth_host* host, uint32_t index,
                                 const berth_str* label_values, uint64_t* series) noexcept {
  FakeMetrics& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  if (index >= self.order_.size()) {
    self.reporter_.Fail(Check::kShape, "asks for a series of metric " + std::to_string(index) +
                                           ", which it did not define");
    return BERTH_BAD_ARGUMENT;
  }
  Defined& defined = self.order_[index];
  Metric* metric = defined.metric;
  std::vector<std::string> labels;
  for (size_t i = 0; i < metric->label_names.size(); ++i)
    labels.emplace_back(FromAbi(label_values[i]));
  const auto known = std::find_if(
      self.series_.begin(), self.series_.end(),
      [&](const Series& other) { return other.metric == metric && other.labels == labels; });
  if (known == self.series_.end()) {
    if (self.HasTooMany(defined)) return BERTH_BUG;
    ++defined.series;
    self.series_.push_back({metric, std::move(labels)});
    *series = self.series_.size();
    return BERTH_SUCCESS;
  }
  *series = static_cast<uint64_t>(known - self.series_.begin()) + 1;
  return BERTH_SUCCESS;
}

bool FakeMetrics::HasTooMany(const Defined& metric) {
  using berth::internal::kMaxSeriesOfInstance;
  using berth::internal::kMaxSeriesOfMetric;
  if (metric.series >= kMaxSeriesOfMetric) {
    reporter_.Fail(Check::kShape, "metric " + metric.name + " has more than " +
                                      std::to_string(kMaxSeriesOfMetric) + " series");
    return true;
  }
  if (series_.size() < kMaxSeriesOfInstance) return false;
  reporter_.Fail(Check::kShape,
                 "has more than " + std::to_string(kMaxSeriesOfInstance) + " series of metrics");
  return true;
}

void FakeMetrics::Observe(const berth_host* host, uint64_t series, double value) noexcept {
  FakeMetrics& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  if (series == 0 || series > self.series_.size()) {
    self.reporter_.Fail(Check::kShape,
                        "observes series " + std::to_string(series) + ", which it did not get");
    return;
  }
  const Series& at = self.series_[series - 1];
  at.metric->observations.emplace_back(at.labels, value);
}

}  // namespace berth::testing
