// The metrics of the scheduling and binding cycles. The names, labels and buckets are those of
// kube-scheduler.
#ifndef BERTH_HOST_CYCLE_CYCLE_METRICS_H_
#define BERTH_HOST_CYCLE_CYCLE_METRICS_H_

#include <cstdint>
#include <string>

#include "host/base/metrics.h"

namespace berth::host {

// Threading: the scheduling thread observes; any thread reads the table.
struct CycleMetrics {
  explicit CycleMetrics(MetricTable& table);

  CounterFamily& attempts;  // scheduler_schedule_attempts_total{result,profile}
  // scheduler_scheduling_attempt_duration_seconds{result,profile}
  HistogramFamily& attempt_seconds;
  HistogramFamily& algorithm_seconds;  // scheduler_scheduling_algorithm_duration_seconds
  HistogramFamily& sli_seconds;        // scheduler_pod_scheduling_sli_duration_seconds{attempts}
  HistogramFamily& attempts_per_pod;   // scheduler_pod_scheduling_attempts
  HistogramFamily& event_seconds;      // scheduler_event_handling_duration_seconds{event}
  GaugeFamily& cache_size;             // scheduler_cache_size{type}
  GaugeFamily& goroutines;             // scheduler_goroutines{operation}: binding cycles under way.
};

// The largest number of attempts that has a label of its own.
inline constexpr uint64_t kMostListedAttempts = 14;
// Returns the label "attempts" of sli_seconds: "1" to "14", and "15+" for more attempts.
std::string SliAttemptsLabel(uint64_t attempts);

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_CYCLE_METRICS_H_
