#include "host/queue/queue_metrics.h"

namespace berth::host {

QueueMetrics::QueueMetrics(MetricTable& table)
    : incoming_pods(table.AddCounter(
          "scheduler_queue_incoming_pods_total",
          "The number of pods that entered a place of the scheduling queue, by the event.",
          {"queue", "event"})),
      pending_pods(table.AddGauge(
          "scheduler_pending_pods",
          "The number of pods in each place of the scheduling queue: active, backoff, "
          "unschedulable, gated.",
          {"queue"})),
      unschedulable_pods(table.AddGauge(
          "scheduler_unschedulable_pods",
          "The number of unschedulable pods that a plugin rejected. A pod counts once for each "
          "plugin that rejected it.",
          {"plugin", "profile"})),
      after_flush(table.AddCounter(
          "scheduler_pod_scheduled_after_flush_total",
          "The number of pods that were scheduled after the scheduling queue tried them again "
          "because they had waited too long. It grows if a plugin does not register an event or if "
          "its hint skips one.",
          {})),
      hint_seconds(table.AddHistogram("scheduler_queueing_hint_execution_duration_seconds",
                                      "The duration of a call of a queueing hint.",
                                      {"plugin", "event", "hint"},
                                      ExponentialBounds(0.00001, 1.5, 20))),
      inflight_events(table.AddGauge(
          "scheduler_inflight_events",
          "The number of events that the scheduling queue keeps for attempts under way.",
          {"event"})) {}

}  // namespace berth::host
