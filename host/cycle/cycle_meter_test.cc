#include "host/cycle/cycle_meter.h"

#include <map>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/pod_lifecycle.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

uint64_t ObservationsOf(const Histogram& histogram) {
  const auto buckets = histogram.Read().buckets;
  return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
}

class CycleMeterTest : public ::testing::Test {
 protected:
  CycleMeterTest() { pod_.harness().options().metrics = &metrics_; }

  // Returns the counters that are not 0, by their values of the first labels.
  template <class T>
  static std::map<std::string, uint64_t> ByFirstLabel(const InstrumentFamily<T>& family) {
    std::map<std::string, uint64_t> sums;
    family.ForEach([&sums](auto values, const T& instrument) {
      uint64_t count = 0;
      if constexpr (std::is_same_v<T, Histogram>) {
        count = ObservationsOf(instrument);
      } else {
        count = static_cast<uint64_t>(instrument.value());
      }
      if (count > 0) sums[values[0]] += count;
    });
    return sums;
  }

  MetricTable table_;
  SchedulerMetrics metrics_{table_};
  PodLifecycle pod_;  // "other" is parked, "p" is bound.
};

TEST_F(CycleMeterTest, ObservesABoundAndAParkedPod) {
  pod_.Run();
  ASSERT_EQ(pod_.Outcome(), "Success");
  const CycleMetrics& cycles = metrics_.cycles;
  EXPECT_THAT(ByFirstLabel(cycles.attempts),
              ElementsAre(Pair("scheduled", 1u), Pair("unschedulable", 1u)));
  EXPECT_THAT(ByFirstLabel(cycles.attempt_seconds),
              ElementsAre(Pair("scheduled", 1u), Pair("unschedulable", 1u)));
  EXPECT_THAT(ByFirstLabel(cycles.sli_seconds), ElementsAre(Pair("1", 1u)));
  EXPECT_EQ(ObservationsOf(metrics_.cycles.attempts_per_pod.With({})), 1u);
  EXPECT_EQ(ObservationsOf(metrics_.cycles.algorithm_seconds.With({})), 1u) << "only a success";
  // The Bind plugin of the fixture does not tell the cluster, so that the pod stays assumed.
  EXPECT_THAT(ByFirstLabel(cycles.cache_size),
              ElementsAre(Pair("assumed_pods", 1u), Pair("nodes", 1u), Pair("pods", 1u)));
  EXPECT_THAT(ByFirstLabel(cycles.goroutines), IsEmpty());
  EXPECT_THAT(ByFirstLabel(metrics_.queue.pending_pods), ElementsAre(Pair("unschedulable", 1u)));
  EXPECT_THAT(ByFirstLabel(metrics_.queue.incoming_pods),
              ElementsAre(Pair("active", 2u), Pair("unschedulable", 1u)));
  EXPECT_EQ(metrics_.queue.incoming_pods.With({"active", "UnscheduledPodAdd"}).value(), 2u);
  EXPECT_EQ(metrics_.queue.incoming_pods.With({"unschedulable", "ScheduleAttemptFailure"}).value(),
            1u);
}

TEST_F(CycleMeterTest, ObservesTheExtensionPointsThatRan) {
  pod_.Run();
  EXPECT_THAT(ByFirstLabel(metrics_.points.point_seconds),
              ElementsAre(Pair("Bind", 1u), Pair("Filter", 2u), Pair("Permit", 1u),
                          Pair("PostBind", 1u), Pair("PreBind", 1u), Pair("PreBindPreFlight", 1u),
                          Pair("PreFilter", 2u), Pair("Reserve", 1u)));
  uint64_t filters = 0;
  metrics_.points.evaluations.ForEach([&](auto values, const Counter& counter) {
    if (values[0] == "puppet.A" && values[1] == "Filter") filters += counter.value();
  });
  EXPECT_EQ(filters, 2u);
}

TEST_F(CycleMeterTest, ObservesAnErrorAndItsUnreserve) {
  pod_.a().pre_bind = [](const berth_binding&, berth_done, berth_status*) { return BERTH_ERROR; };
  pod_.Run();
  EXPECT_EQ(ByFirstLabel(metrics_.cycles.attempts)["error"], 1u);
  EXPECT_EQ(ByFirstLabel(metrics_.points.point_seconds)["Unreserve"], 1u);
  EXPECT_EQ(metrics_.queue.incoming_pods.With({"backoff", "ScheduleAttemptFailure"}).value(), 1u);
}

TEST_F(CycleMeterTest, ObservesAWaitOnPermit) {
  pod_.a().permit = [](const berth_cycle&, const berth_target&, int64_t* timeout_ns,
                       berth_status*) {
    *timeout_ns = 60 * kSecond;
    return BERTH_WAIT;
  };
  pod_.Run();
  EXPECT_THAT(ByFirstLabel(metrics_.cycles.goroutines), ElementsAre(Pair("binding", 1u)));
  EXPECT_THAT(ByFirstLabel(metrics_.cycles.permit_seconds), IsEmpty());
  pod_.harness().Advance(60 * kSecond);
  EXPECT_THAT(ByFirstLabel(metrics_.cycles.permit_seconds), ElementsAre(Pair("Unschedulable", 1u)));
  EXPECT_DOUBLE_EQ(metrics_.cycles.permit_seconds.With({"Unschedulable"}).Read().sum, 60);
}

TEST_F(CycleMeterTest, ObservesPreemptions) {
  Stage stage;
  Puppet& a = stage.Add("puppet.A", {Point::kFilter, Point::kPostFilter});
  a.filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                berth_status*) {
    for (uint32_t i = 0; i < block.count; ++i) out.codes[i] = BERTH_UNSCHEDULABLE;
    return BERTH_SUCCESS;
  };
  a.post_filter = [&a](const berth_cycle& cycle, const berth_nodes&, const berth_verdicts&,
                       berth_post_filter_out&, berth_status*) {
    const berth_eviction eviction{sizeof eviction, 0, cycle.pod, AsStr("make room")};
    EXPECT_EQ(a.api->evict(
                  a.host, &eviction, [](void*, const berth_api_result*) noexcept {}, nullptr),
              BERTH_SUCCESS);
    return BERTH_UNSCHEDULABLE;
  };
  stage.CompleteProfile();
  Harness harness;
  harness.options().metrics = &metrics_;
  ASSERT_TRUE(harness.Start(stage.spec(), Stage::catalog()).ok());
  harness.AddNode({.name = "n1"});
  harness.AddPod({.name = "p", .spec = "\"schedulerName\":\"" + stage.spec().scheduler_name + '"'});
  harness.Run();
  EXPECT_EQ(metrics_.cycles.preemptions.With({}).value(), 1u);
  EXPECT_EQ(ObservationsOf(metrics_.cycles.victims.With({})), 1u);
  EXPECT_DOUBLE_EQ(metrics_.cycles.victims.With({}).Read().sum, 1);
  EXPECT_EQ(ByFirstLabel(metrics_.points.point_seconds)["PostFilter"], 1u);
}

TEST_F(CycleMeterTest, ObservesEventsOfTheCluster) {
  pod_.Run();
  EXPECT_THAT(ByFirstLabel(metrics_.cycles.event_seconds),
              ElementsAre(Pair("NodeAdd", 1u), Pair("UnscheduledPodAdd", 2u),
                          Pair("UnscheduledPodUpdate", ::testing::_)));
}

TEST_F(CycleMeterTest, ObservesEachEventTypeInItsOwnSeries) {
  pod_.Run();
  pod_.harness().AddNode({.name = "n2"});
  pod_.harness().AddNode({.name = "n3"});
  ASSERT_TRUE(pod_.harness().cluster().Delete(kNodeKind, "", "n2").ok());
  pod_.harness().AddPod({.name = "there", .node = "n3"});
  pod_.harness().cluster().Bind({"default", "other", ""}, "n3", nullptr);
  pod_.harness().Settle();
  const auto events = ByFirstLabel(metrics_.cycles.event_seconds);
  EXPECT_EQ(events.at("NodeAdd"), 3u);
  EXPECT_EQ(events.at("NodeDelete"), 1u);
  EXPECT_EQ(events.at("UnscheduledPodAdd"), 2u);
  EXPECT_EQ(events.at("AssignedPodAdd"), 2u) << "one was added, one was bound";
}

}  // namespace
}  // namespace berth::host
