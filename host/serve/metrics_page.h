// The text of /metrics.
#ifndef BERTH_HOST_SERVE_METRICS_PAGE_H_
#define BERTH_HOST_SERVE_METRICS_PAGE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/metrics.h"

namespace berth::host {

// The content type of the page: the text format 0.0.4.
inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// Returns the metrics as kube-scheduler's library writes them: sorted by name, with labels sorted
// by name, and with the shortest numbers. The text serializer of prometheus-cpp is not used: it
// rounds the bounds of buckets to six decimals or to 16 digits, so that the label "le" would differ
// from that of kube-scheduler. Its registry takes a lock for each observation of a histogram.
std::string ToMetricsText(std::vector<MetricTable::Metric> metrics);

// Returns the whole page: the host's metrics, process_* of this process, and what `more` returns,
// such as the metrics of plugins (runtime/metric_store.h, ToText()). `more` may be empty.
std::string MetricsPage(const MetricTable& table, const std::function<std::string()>& more);

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_METRICS_PAGE_H_
