#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/call.h>
#include <berth/testing/fake_metrics.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>

namespace berth::testing {

const berth_metrics FakeMetrics::kService{sizeof(berth_metrics), 0, &Define, &SeriesOf, &Observe};

FakeMetrics& FakeMetrics::Of(const berth_host* host) { return Services::Of(host).metrics(); }

berth_code FakeMetrics::Define(const berth_host* host, const berth_metric* metric,
                               uint32_t* index) noexcept {
  FakeMetrics& self = Of(host);
  if (!ExpectWord(self.reporter_, "metrics.define", kLoad)) return BERTH_CONFLICT;
  if (metric->kind < BERTH_METRIC_COUNTER || metric->kind > BERTH_METRIC_HISTOGRAM) {
    return BERTH_BAD_ARGUMENT;
  }
  const std::lock_guard lock(self.mutex_);
  const auto [at, fresh] = self.metrics_.try_emplace(std::string(FromAbi(metric->name)));
  if (!fresh) return BERTH_CONFLICT;
  at->second.kind = metric->kind;
  at->second.help = FromAbi(metric->help);
  at->second.buckets.assign(metric->buckets, metric->buckets + metric->n_buckets);
  for (uint64_t i = 0; i < metric->n_labels; ++i)
    at->second.label_names.emplace_back(FromAbi(metric->label_names[i]));
  self.order_.push_back(&at->second);
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
  Metric* metric = self.order_[index];
  std::vector<std::string> labels;
  for (size_t i = 0; i < metric->label_names.size(); ++i)
    labels.emplace_back(FromAbi(label_values[i]));
  const auto known = std::find_if(
      self.series_.begin(), self.series_.end(),
      [&](const Series& other) { return other.metric == metric && other.labels == labels; });
  *series = static_cast<uint64_t>(known - self.series_.begin()) + 1;
  if (known == self.series_.end()) self.series_.push_back({metric, std::move(labels)});
  return BERTH_SUCCESS;
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
