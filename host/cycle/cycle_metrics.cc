#include "host/cycle/cycle_metrics.h"

#include <string>

namespace berth::host {

CycleMetrics::CycleMetrics(MetricTable& table)
    : attempts(table.AddCounter(
          "scheduler_schedule_attempts_total",
          "The number of attempts to schedule a pod, by the result: scheduled, unschedulable, or "
          "error for a problem inside the scheduler.",
          {"result", "profile"})),
      attempt_seconds(table.AddHistogram(
          "scheduler_scheduling_attempt_duration_seconds",
          "The duration of an attempt: the scheduling cycle and the binding cycle.",
          {"result", "profile"}, ExponentialBounds(0.001, 2, 15))),
      algorithm_seconds(
          table.AddHistogram("scheduler_scheduling_algorithm_duration_seconds",
                             "The duration of the choice of a node in the scheduling cycle.", {},
                             ExponentialBounds(0.001, 2, 15))),
      sli_seconds(table.AddHistogram(
          "scheduler_pod_scheduling_sli_duration_seconds",
          "The time from the first arrival of a pod in the scheduling queue until it is scheduled, "
          "without the time in which it was gated, by the number of attempts.",
          {"attempts"}, ExponentialBounds(0.01, 2, 20))),
      attempts_per_pod(table.AddHistogram("scheduler_pod_scheduling_attempts",
                                          "The number of attempts until a pod was scheduled.", {},
                                          ExponentialBounds(1, 2, 5))),
      event_seconds(table.AddHistogram("scheduler_event_handling_duration_seconds",
                                       "The duration of the handling of an event.", {"event"},
                                       ExponentialBounds(0.0001, 2, 12))),
      cache_size(table.AddGauge("scheduler_cache_size",
                                "The number of nodes, pods and assumed pods in the cache.",
                                {"type"})),
      goroutines(table.AddGauge("scheduler_goroutines",
                                "The number of operations under way, such as binding.",
                                {"operation"})) {}

std::string SliAttemptsLabel(uint64_t attempts) {
  return attempts > kMostListedAttempts ? "15+" : std::to_string(attempts);
}

}  // namespace berth::host
