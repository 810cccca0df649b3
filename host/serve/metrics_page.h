// The text of /metrics.
#ifndef BERTH_HOST_SERVE_METRICS_PAGE_H_
#define BERTH_HOST_SERVE_METRICS_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/metrics.h"

namespace berth::host {

// The figures of the system about this process. A member is empty if it could not be read.
struct ProcessTexts {
  std::string stat;         // /proc/self/stat
  std::string system_stat;  // /proc/stat
  std::string limits;       // /proc/self/limits
  std::optional<size_t> open_files;
  int64_t ticks_per_second = 0;
  int64_t page_bytes = 0;
};

ProcessTexts ReadProcessTexts();

// Returns the metrics that client libraries of Prometheus call process_*: CPU seconds, resident and
// virtual memory, its limit, the start time, open files and their limit. A metric whose text is
// missing or has another form is left out.
std::vector<MetricTable::Metric> ToProcessMetrics(const ProcessTexts& texts);

// The content type of the page: the text format 0.0.4.
inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// Returns the metrics as kube-scheduler's library writes them: sorted by name, with labels sorted
// by name, and with the shortest numbers.
//
// Neither the serializer nor the registry of prometheus-cpp is used (version 1.0.1, Debian 12):
// - The serializer writes numbers with 16 digits, so that the label "le" of a bucket differs from
//   that of kube-scheduler: 1.5e-05 instead of 1.5000000000000002e-05. Queries that select or join
//   buckets by `le` then find nothing. It also writes series in no order.
// - The registry with this serializer would keep its costs. A histogram takes a lock for each
//   observation, which is 2.6 times as long as that of Histogram (25 and 9.5 ns on one machine),
//   and the scheduling cycle makes dozens of them for each pod. Finding an instrument by its labels
//   takes 6.7 times, and reading 500 histograms 20 times as long; while a family is read, its lock
//   delays the threads that look for an instrument.
// - The registry limits no number of series and throws exceptions. MetricTable does neither.
// - The development package depends on a web server (civetweb, as a program and as a library) and
//   on an HTTP client (curl).
// The library would replace the 300 lines of base/metrics.{h,cc}.
std::string ToMetricsText(std::vector<MetricTable::Metric> metrics);

// Returns the whole page: the host's metrics, process_* of this process, and what `more` returns,
// such as the metrics of plugins (MetricStore). `more` may be empty.
std::string MetricsPage(const MetricTable& table, const std::function<std::string()>& more);

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_METRICS_PAGE_H_
