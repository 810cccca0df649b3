#include "host/queue/queue_meter.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(QueueMeterTest, EachWaitingPlaceHasALabel) {
  struct Case {
    QueuePlace place;
    const char* label;
  };
  const Case cases[] = {
      {QueuePlace::kActive, "active"},        {QueuePlace::kBackoff, "backoff"},
      {QueuePlace::kErrorBackoff, "backoff"}, {QueuePlace::kUnschedulable, "unschedulable"},
      {QueuePlace::kGated, "gated"},          {QueuePlace::kInFlight, ""}};
  for (const Case& c : cases) EXPECT_EQ(QueueLabelOf(c.place), c.label);
}

TEST(QueueMeterTest, CountsByPlaceAndEventAndPublishesEachPlace) {
  MetricTable table;
  QueueMetrics metrics(table);
  QueueMeter meter(metrics);
  meter.CountIncoming(QueuePlace::kActive, "PodAdd");
  meter.CountIncoming(QueuePlace::kActive, "PodAdd");
  meter.CountIncoming(QueuePlace::kErrorBackoff, "ScheduleAttemptFailure");
  meter.CountIncoming(QueuePlace::kInFlight, "PodAdd");
  EXPECT_EQ(metrics.incoming_pods.With({"active", "PodAdd"}).value(), 2u);
  EXPECT_EQ(metrics.incoming_pods.With({"backoff", "ScheduleAttemptFailure"}).value(), 1u);
  std::vector<std::string> labels;
  metrics.incoming_pods.ForEach(
      [&](auto values, const Counter&) { labels.push_back(values[0] + " " + values[1]); });
  EXPECT_THAT(labels, ElementsAre("active PodAdd", "backoff ScheduleAttemptFailure"));
  meter.Publish([](QueuePlace place) { return static_cast<size_t>(place) + 1; });
  EXPECT_EQ(metrics.pending_pods.With({"active"}).value(), 1);
  EXPECT_EQ(metrics.pending_pods.With({"backoff"}).value(), 2 + 3);
  EXPECT_EQ(metrics.pending_pods.With({"unschedulable"}).value(), 4);
  EXPECT_EQ(metrics.pending_pods.With({"gated"}).value(), 5);
}

}  // namespace
}  // namespace berth::host
