#include "host/queue/queue_meter.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"

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
  const TestClock clock;
  QueueMeter meter(metrics, clock);
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

TEST(QueueMeterTest, ObservesHintsByPluginEventAndResult) {
  MetricTable table;
  QueueMetrics metrics(table);
  TestClock clock;
  QueueMeter meter(metrics, clock);
  meter.SetPluginNames([](PluginId plugin) { return plugin == 3 ? "NodePorts" : "NodeAffinity"; });
  const int64_t since_ns = meter.NowNs();
  clock.Advance(2000);
  meter.ObserveHint(meter.HintSeriesOf(3, "NodeAdd"), true, since_ns);
  meter.ObserveHint(meter.HintSeriesOf(3, "NodeAdd"), true, since_ns);
  meter.ObserveHint(meter.HintSeriesOf(4, "NodeAdd"), false, since_ns);
  std::vector<std::string> observed;
  metrics.hint_seconds.ForEach([&](auto values, const Histogram& histogram) {
    const auto buckets = histogram.Read().buckets;
    const uint64_t count = std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
    if (count == 0) return;
    observed.push_back(values[0] + " " + values[1] + " " + values[2] + " " + std::to_string(count));
  });
  EXPECT_THAT(observed,
              ElementsAre("NodeAffinity NodeAdd QueueSkip 1", "NodePorts NodeAdd Queue 2"));
  EXPECT_DOUBLE_EQ(metrics.hint_seconds.With({"NodePorts", "NodeAdd", "Queue"}).Read().sum, 4e-6);
}

}  // namespace
}  // namespace berth::host
