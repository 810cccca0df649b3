// The metrics of the queue, of the extension points and of the cycles are those of kube-scheduler
// (pkg/scheduler/metrics/metrics.go).
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/metrics.h"
#include "host/base/text.h"
#include "host/cycle/cycle_meter.h"
#include "host/queue/queue_meter.h"
#include "host/runtime/attempt/point_meter.h"

namespace berth::host {
namespace {

using ::testing::UnorderedElementsAre;

// Returns "counter name{labels}"; of a histogram also its first and last bound and their number.
std::string Describe(const MetricTable::Metric& metric) {
  std::string text = "histogram ";
  if (metric.kind == MetricTable::Metric::Kind::kCounter) text = "counter ";
  if (metric.kind == MetricTable::Metric::Kind::kGauge) text = "gauge ";
  text.append(metric.name).append("{").append(Join(metric.labels, ",")).append("}");
  if (metric.bounds.empty()) return text;
  text.append(" ").append(FormatMetricNumber(metric.bounds.front())).append(" to ");
  text.append(FormatMetricNumber(metric.bounds.back())).append(" in ");
  return text.append(std::to_string(metric.bounds.size()));
}

std::vector<std::string> DescribeAll(const MetricTable& table) {
  std::vector<std::string> texts;
  for (const MetricTable::Metric& metric : table.Read()) texts.push_back(Describe(metric));
  return texts;
}

TEST(QueueMetricsTest, AreThoseOfKubeScheduler) {
  MetricTable table;
  const QueueMetrics metrics(table);
  EXPECT_THAT(
      DescribeAll(table),
      UnorderedElementsAre("counter scheduler_queue_incoming_pods_total{queue,event}",
                           "gauge scheduler_pending_pods{queue}",
                           "gauge scheduler_unschedulable_pods{plugin,profile}",
                           "counter scheduler_pod_scheduled_after_flush_total{}",
                           "histogram scheduler_queueing_hint_execution_duration_seconds{plugin,"
                           "event,hint} 1e-05 to 0.02216837820053101 in 20",
                           "gauge scheduler_inflight_events{event}"));
}

TEST(PointMetricsTest, AreThoseOfKubeScheduler) {
  MetricTable table;
  const PointMetrics metrics(table);
  EXPECT_THAT(
      DescribeAll(table),
      UnorderedElementsAre("histogram scheduler_framework_extension_point_duration_seconds"
                           "{extension_point,status,profile} 0.0001 to 0.2048 in 12",
                           "histogram scheduler_plugin_execution_duration_seconds{plugin,"
                           "extension_point,status} 1e-05 to 0.02216837820053101 in 20",
                           "counter scheduler_plugin_evaluation_total{plugin,extension_point,"
                           "profile}"));
}

TEST(CycleMetricsTest, AreThoseOfKubeScheduler) {
  MetricTable table;
  const CycleMetrics metrics(table);
  EXPECT_THAT(DescribeAll(table),
              UnorderedElementsAre(
                  "counter scheduler_schedule_attempts_total{result,profile}",
                  "histogram scheduler_scheduling_attempt_duration_seconds{result,"
                  "profile} 0.001 to 16.384 in 15",
                  "histogram scheduler_scheduling_algorithm_duration_seconds{} 0.001 to "
                  "16.384 in 15",
                  "histogram scheduler_pod_scheduling_sli_duration_seconds{attempts} "
                  "0.01 to 5242.88 in 20",
                  "histogram scheduler_pod_scheduling_attempts{} 1 to 16 in 5",
                  "histogram scheduler_permit_wait_duration_seconds{result} 0.001 to "
                  "16.384 in 15",
                  "histogram scheduler_preemption_victims{} 1 to 64 in 7",
                  "counter scheduler_preemption_attempts_total{}",
                  "histogram scheduler_event_handling_duration_seconds{event} 0.0001 to "
                  "0.2048 in 12",
                  "gauge scheduler_cache_size{type}", "gauge scheduler_goroutines{operation}"));
}

TEST(PointMetricsTest, BoundsAreRoundedAsThoseOfKubeScheduler) {
  MetricTable table;
  PointMetrics metrics(table);
  std::vector<std::string> bounds;
  const Histogram& seconds = metrics.plugin_seconds.With({"p", "Filter", "Success"});
  for (const double bound : seconds.bounds()) bounds.push_back(FormatMetricNumber(bound));
  EXPECT_EQ(Join(bounds, " "),
            "1e-05 1.5000000000000002e-05 2.2500000000000005e-05 3.375000000000001e-05 "
            "5.062500000000001e-05 7.593750000000002e-05 0.00011390625000000003 "
            "0.00017085937500000006 0.0002562890625000001 0.00038443359375000017 "
            "0.0005766503906250003 0.0008649755859375004 0.0012974633789062506 "
            "0.0019461950683593758 0.0029192926025390638 0.004378938903808595 "
            "0.006568408355712893 0.009852612533569338 0.014778918800354007 "
            "0.02216837820053101");
}

TEST(CycleMetricsTest, OneTableHoldsTheMetricsOfAllParts) {
  MetricTable table;
  const QueueMetrics queue(table);
  const PointMetrics points(table);
  const CycleMetrics cycles(table);
  EXPECT_EQ(table.Read().size(), 20u);
}

TEST(CycleMetricsTest, AttemptsOfPodAreListedUpTo14) {
  struct Case {
    uint64_t attempts;
    const char* label;
  };
  for (const Case& c : {Case{1, "1"}, Case{14, "14"}, Case{15, "15+"}, Case{1000, "15+"}}) {
    EXPECT_EQ(SliAttemptsLabel(c.attempts), c.label);
  }
}

}  // namespace
}  // namespace berth::host
