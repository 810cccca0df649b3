// The metrics of the scheduling queue. The names, labels and buckets are kube-scheduler's
// (pkg/scheduler/metrics/metrics.go).
#ifndef BERTH_HOST_QUEUE_QUEUE_METRICS_H_
#define BERTH_HOST_QUEUE_QUEUE_METRICS_H_

#include "host/base/metrics.h"

namespace berth::host {

// Threading: the scheduling thread observes; any thread reads the table.
struct QueueMetrics {
  explicit QueueMetrics(MetricTable& table);

  CounterFamily& incoming_pods;     // scheduler_queue_incoming_pods_total{queue,event}
  GaugeFamily& pending_pods;        // scheduler_pending_pods{queue}
  GaugeFamily& unschedulable_pods;  // scheduler_unschedulable_pods{plugin,profile}
  CounterFamily& after_flush;       // scheduler_pod_scheduled_after_flush_total
  // scheduler_queueing_hint_execution_duration_seconds{plugin,event,hint}
  HistogramFamily& hint_seconds;
  GaugeFamily& inflight_events;  // scheduler_inflight_events{event}
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_METRICS_H_
