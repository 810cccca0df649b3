#include "host/queue/queue_meter.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/queue/test_queue.h"

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

TEST(QueueMeterTest, CountsByPlaceAndEventAndPublishesPlaces) {
  MetricTable table;
  QueueMetrics metrics(table);
  const TestClock clock;
  QueueMeter meter(metrics, clock, kNewestKubeVersion);
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
  QueueMeter meter(metrics, clock, kNewestKubeVersion);
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

// Returns the series that are not 0: "plugin 1 x 2" for two pods that plugin 1 rejected.
std::string UnschedulablePods(QueueMetrics& metrics) {
  std::string text;
  metrics.unschedulable_pods.ForEach([&](auto values, const Gauge& gauge) {
    if (gauge.value() == 0) return;
    text.append(text.empty() ? "" : ", ").append(values[0]).append(" ").append(values[1]);
    text.append(" x ").append(std::to_string(gauge.value()));
  });
  return text;
}

TEST(QueueMeterTest, CountsPodsForEachRejectingPlugin) {
  const struct {
    const char* description;
    const char* script;
    const char* counted;
  } cases[] = {
      {"a pod that was not tried", "add a", ""},
      {"a parked pod counts for each rejector", "add a; pop a; return a 1,3 -",
       "1 default-scheduler x 1, 3 default-scheduler x 1"},
      {"a plugin that is in both lists counts once", "add a; pop a; return a 1 1,3",
       "1 default-scheduler x 1, 3 default-scheduler x 1"},
      {"it counts while it backs off", "add a; pop a; return a 1 -; node helps-1",
       "1 default-scheduler x 1"},
      {"a pod that is tried again does not count",
       "add a; pop a; return a 1 -; node helps-1; pop a", ""},
      {"two pods", "add a; add b; pop a; pop b; return a 1 -; return b 1 -",
       "1 default-scheduler x 2"},
      {"a deleted pod", "add a; pop a; return a 1 -; remove a", ""},
      {"an attempt that failed with an error", "add a; pop a; fail a", ""},
      {"PreEnqueue", "hold a 4; add a", "4 default-scheduler x 1"},
      {"PreEnqueue does not reject it any more", "hold a 4; add a; release a; label a y; pop a",
       ""},
      {"each member of a group", "join a g; join b g; pop g(a,b); return g 1 -",
       "1 default-scheduler x 2"},
      {"a member that is removed", "join a g; join b g; pop g(a,b); return g 1 -; remove b",
       "1 default-scheduler x 1"},
      {"a group whose last member is removed", "join a g; pop g(a); return g 1 -; remove a", ""},
      {"a member that returns to its group on its own",
       "join a g; join b g; pop g(a,b); take a; return g 1 -; return a 3 -",
       "1 default-scheduler x 2"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    MetricTable table;
    QueueMetrics metrics(table);
    TestQueue test(TestQueue::DefaultTable(), {.groups = true});
    QueueMeter meter(metrics, test.clock, kNewestKubeVersion);
    test.queue->SetMeter(&meter);
    test.Run(c.script);
    EXPECT_EQ(UnschedulablePods(metrics), c.counted);
  }
}

// The host itself rejects pods of every profile with the same ids.
TEST(QueueMeterTest, CountsPodsOfAPluginByTheirProfile) {
  MetricTable table;
  QueueMetrics metrics(table);
  const TestClock clock;
  QueueMeter meter(metrics, clock, kNewestKubeVersion);
  TestObjects objects;
  QueuedEntity ours;
  ours.pod = objects.Pod({.name = "a", .spec = "\"schedulerName\":\"acme\""});
  ours.SetRejection({.plugins = {1}, .pending = {}});
  QueuedEntity other;
  other.pod = objects.Pod({.name = "b"});
  other.SetRejection({.plugins = {1}, .pending = {}});
  meter.CountRejected(ours, 1);
  meter.CountRejected(other, 1);
  EXPECT_EQ(UnschedulablePods(metrics), "1 acme x 1, 1 default-scheduler x 1");
  meter.CountRejected(ours, -1);
  EXPECT_EQ(UnschedulablePods(metrics), "1 default-scheduler x 1");
}

// No API server lets a pod change its schedulerName, but a file of events may.
TEST(QueueMeterTest, FollowsAPodWhoseProfileChanges) {
  MetricTable table;
  QueueMetrics metrics(table);
  TestQueue test(TestQueue::DefaultTable());
  QueueMeter meter(metrics, test.clock, kNewestKubeVersion);
  test.queue->SetMeter(&meter);
  test.Run("add a; pop a; return a 1 -");
  const std::string acme = "\"schedulerName\":\"acme\"";
  test.queue->Update(test.objects.Pod({.name = "a", .spec = acme}));
  EXPECT_EQ(UnschedulablePods(metrics), "1 acme x 1");
  test.Run("remove a");
  EXPECT_EQ(UnschedulablePods(metrics), "");
}

}  // namespace
}  // namespace berth::host
