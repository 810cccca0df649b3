// The metrics of the extension points. The names, labels and buckets are kube-scheduler's.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_POINT_METRICS_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_POINT_METRICS_H_

#include "host/base/metrics.h"

namespace berth::host {

// Threading: any.
struct PointMetrics {
  explicit PointMetrics(MetricTable& table);

  // scheduler_framework_extension_point_duration_seconds{extension_point,status,profile}
  HistogramFamily& point_seconds;
  // scheduler_plugin_execution_duration_seconds{plugin,extension_point,status}; one cycle in ten is
  // measured, chosen by its number, so that no random number is drawn.
  HistogramFamily& plugin_seconds;
  // scheduler_plugin_evaluation_total{plugin,extension_point,profile}
  CounterFamily& evaluations;
  HistogramFamily& permit_seconds;  // scheduler_permit_wait_duration_seconds{result}
  HistogramFamily& victims;         // scheduler_preemption_victims
  CounterFamily& preemptions;       // scheduler_preemption_attempts_total
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_POINT_METRICS_H_
