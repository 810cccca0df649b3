#include "host/runtime/attempt/point_meter.h"

#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

uint64_t CountOf(const Histogram& histogram) {
  const auto buckets = histogram.Read().buckets;
  return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
}

class PointMeterTest : public ::testing::Test {
 protected:
  Histogram& SecondsOf(const char* point, const char* status) {
    return metrics_.point_seconds.With({point, status, "acme"});
  }

  TestClock clock_;
  MetricTable table_;
  PointMetrics metrics_{table_};
  PointMeter meter_{metrics_, clock_, "acme"};
};

TEST_F(PointMeterTest, ObservesPointByItsNameAndItsResult) {
  const int64_t since_ns = meter_.NowNs();
  clock_.Advance(3 * kMillisecond);
  meter_.ObservePoint(MeteredPoint::kFilter, BERTH_SUCCESS, since_ns);
  meter_.ObservePoint(MeteredPoint::kFilter, BERTH_SUCCESS, since_ns);
  meter_.ObservePoint(MeteredPoint::kUnreserve, BERTH_SUCCESS, since_ns);
  meter_.ObservePoint(MeteredPoint::kPreBindPreFlight, BERTH_SKIP, since_ns);
  meter_.ObservePoint(MeteredPoint::kBind, BERTH_CONFLICT, since_ns);  // Above the kept codes.
  EXPECT_EQ(CountOf(SecondsOf("Filter", "Success")), 2u);
  EXPECT_DOUBLE_EQ(SecondsOf("Filter", "Success").Read().sum, 0.006);
  EXPECT_EQ(CountOf(SecondsOf("Unreserve", "Success")), 1u);
  EXPECT_EQ(CountOf(SecondsOf("PreBindPreFlight", "Skip")), 1u);
  EXPECT_EQ(CountOf(SecondsOf("Bind", "Conflict")), 1u);
}

TEST_F(PointMeterTest, MeteredObservesOnceAndPassesWithoutAMeter) {
  Metered(&meter_, MeteredPoint::kScore, [this] {
    clock_.Advance(kSecond);
    return berth_code{BERTH_ERROR};
  });
  EXPECT_EQ(CountOf(SecondsOf("Score", "Error")), 1u);
  EXPECT_DOUBLE_EQ(SecondsOf("Score", "Error").Read().sum, 1);
  int32_t calls = 0;
  Metered(nullptr, MeteredPoint::kScore, [&calls] {
    ++calls;
    return berth_code{BERTH_ERROR};
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(CountOf(SecondsOf("Score", "Error")), 1u);
}

TEST_F(PointMeterTest, ObservesCallsByPluginPointAndResult) {
  meter_.ObserveCall(1, "A", Point::kFilter, BERTH_SUCCESS, meter_.NowNs());
  meter_.ObserveCall(1, "A", Point::kFilter, BERTH_BUG, meter_.NowNs());
  meter_.ObserveCall(2, "B", Point::kFilter, BERTH_SUCCESS, meter_.NowNs());
  std::vector<std::string> series;
  metrics_.plugin_seconds.ForEach([&](auto values, const Histogram& histogram) {
    series.push_back(values[0] + " " + values[1] + " " + values[2] + " " +
                     std::to_string(CountOf(histogram)));
  });
  EXPECT_THAT(series, ElementsAre("A Filter Bug 1", "A Filter Success 1", "B Filter Success 1"));
}

TEST_F(PointMeterTest, CountsTheEvaluationsOfFourPointsOnly) {
  constexpr auto kBit = [](Point point) { return 1U << static_cast<uint32_t>(point); };
  meter_.CountCalls(1, "A", kBit(Point::kPreFilter) | kBit(Point::kFilter) | kBit(Point::kReserve));
  meter_.CountCalls(1, "A", kBit(Point::kFilter));
  meter_.CountCalls(2, "B", kBit(Point::kPreScore) | kBit(Point::kScore));
  meter_.CountCalls(3, "C", 0);
  std::vector<std::string> series;
  metrics_.evaluations.ForEach([&](auto values, const Counter& counter) {
    series.push_back(values[0] + " " + values[1] + " " + values[2] + " " +
                     std::to_string(counter.value()));
  });
  EXPECT_THAT(series, ElementsAre("A Filter acme 2", "A PreFilter acme 1", "B PreScore acme 1",
                                  "B Score acme 1"));
}

TEST_F(PointMeterTest, SamplesOneAttemptInTen) {
  int32_t sampled = 0;
  for (uint64_t attempt = 1; attempt <= 1000; ++attempt) {
    sampled += PointMeter::IsSampled(attempt) ? 1 : 0;
  }
  EXPECT_EQ(sampled, 100);
}

}  // namespace
}  // namespace berth::host
