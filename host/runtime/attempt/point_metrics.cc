#include "host/runtime/attempt/point_metrics.h"

namespace berth::host {

PointMetrics::PointMetrics(MetricTable& table)
    : point_seconds(table.AddHistogram("scheduler_framework_extension_point_duration_seconds",
                                       "The duration of all plugins of an extension point.",
                                       {"extension_point", "status", "profile"},
                                       ExponentialBounds(0.0001, 2, 12))),
      plugin_seconds(table.AddHistogram(
          "scheduler_plugin_execution_duration_seconds",
          "The duration of a plugin at an extension point, measured in one cycle of ten.",
          {"plugin", "extension_point", "status"}, ExponentialBounds(0.00001, 1.5, 20))),
      evaluations(table.AddCounter(
          "scheduler_plugin_evaluation_total",
          "The number of attempts in which a plugin was called at PreFilter, Filter, PreScore or "
          "Score.",
          {"plugin", "extension_point", "profile"})),
      permit_seconds(table.AddHistogram("scheduler_permit_wait_duration_seconds",
                                        "The time that a pod waited on Permit.", {"result"},
                                        ExponentialBounds(0.001, 2, 15))),
      victims(table.AddHistogram("scheduler_preemption_victims",
                                 "The number of pods that one preemption selected for eviction.",
                                 {}, ExponentialBounds(1, 2, 7))),
      preemptions(table.AddCounter("scheduler_preemption_attempts_total",
                                   "The number of attempts to preempt pods.", {})) {}

}  // namespace berth::host
