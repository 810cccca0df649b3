// The metrics process_* of this process.
#ifndef BERTH_HOST_SERVE_PROCESS_METRICS_H_
#define BERTH_HOST_SERVE_PROCESS_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

}  // namespace berth::host

#endif  // BERTH_HOST_SERVE_PROCESS_METRICS_H_
