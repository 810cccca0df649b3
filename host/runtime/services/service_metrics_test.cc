// The service berth.metrics/1.
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/metrics.h"
#include "host/plan/instance_host.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MetricsServiceTest : public ServicesTest {
 protected:
  const berth_metrics& service() { return Service<berth_metrics>(BERTH_SERVICE_METRICS); }
  berth_code Define(const InstanceHost& host, const char* name, std::vector<berth_str> labels = {},
                    uint32_t kind = BERTH_METRIC_COUNTER) {
    const berth_metric metric{.struct_size = sizeof(berth_metric),
                              .kind = kind,
                              .name = AsStr(name),
                              .help = AsStr("Help."),
                              .label_names = labels.data(),
                              .n_labels = labels.size(),
                              .buckets = nullptr,
                              .n_buckets = 0};
    return service().define(host.abi(), &metric, &index_);
  }

  // Returns the handle of a series; 0 if there is none.
  uint64_t Series(const InstanceHost& host, uint32_t metric, const berth_str* labels = nullptr) {
    uint64_t series = 0;
    const berth_code code = service().series(host.abi(), metric, labels, &series);
    EXPECT_EQ(code == BERTH_SUCCESS, series != 0);
    return series;
  }
  void Observe(const InstanceHost& host, uint32_t metric, double value) {
    service().observe(host.abi(), Series(host, metric), value);
  }
  size_t Faults() const {
    size_t count = 0;
    for (const PluginFaults::Count& fault : faults_.Counts()) count += fault.count;
    return count;
  }

  uint32_t index_ = UINT32_MAX;
};

TEST_F(MetricsServiceTest, AddsPluginAndProfile) {
  ASSERT_EQ(Define(*host_, "a_total", {AsStr("zone")}), BERTH_SUCCESS);
  const berth_str zone = AsStr("z");
  service().observe(abi(), Series(*host_, index_, &zone), 3);
  const auto read = metrics_.Read();
  ASSERT_EQ(read.size(), 1U);
  ASSERT_EQ(read[0].series.size(), 1U);
  EXPECT_EQ(read[0].help, "Help.");
  EXPECT_THAT(read[0].labels, ElementsAre("plugin", "profile", "zone"));
  EXPECT_THAT(read[0].series[0].label_values, ElementsAre("test.Plugin", "default-scheduler", "z"));
  EXPECT_EQ(read[0].series[0].value, 3);
}

TEST_F(MetricsServiceTest, IndicesBelongToTheInstance) {
  Define(*host_, "a", {});
  EXPECT_EQ(index_, 0U);
  Define(*host_, "b", {}, BERTH_METRIC_GAUGE);
  EXPECT_EQ(index_, 1U);
  const auto other = Host("test.Other");
  Define(*other, "c", {});
  EXPECT_EQ(index_, 0U);
  Observe(*other, 0, 5);
  uint64_t series = 0;
  EXPECT_EQ(service().series(other->abi(), 1, nullptr, &series), BERTH_BAD_ARGUMENT);
  EXPECT_THAT(ToText(metrics_.Read()), HasSubstr("c{plugin=\"test.Other\""));
  EXPECT_TRUE(metrics_.Read()[0].series.empty());
}

TEST_F(MetricsServiceTest, ANameOfAnotherPluginIsAConflict) {
  EXPECT_EQ(Define(*host_, "a"), BERTH_SUCCESS);
  EXPECT_EQ(Define(*host_, "a"), BERTH_CONFLICT);
  EXPECT_EQ(Define(*Host("test.Other"), "a"), BERTH_CONFLICT);
  // In another profile, the plugin may define its metric again, but not differently.
  EXPECT_EQ(Define(*Host("test.Plugin", "binpack"), "a"), BERTH_SUCCESS);
  EXPECT_EQ(Define(*Host("test.Plugin", "spread"), "a", {AsStr("l")}), BERTH_CONFLICT);
  EXPECT_THAT(lines_.back(), HasSubstr("metric a has another definition"));
}

TEST_F(MetricsServiceTest, AReplacingInstanceMayRedefineAMetric) {
  ASSERT_EQ(Define(*host_, "a"), BERTH_SUCCESS);
  host_->Begin();
  Observe(*host_, index_, 1);
  const auto young = Host("test.Plugin");
  ASSERT_EQ(Define(*young, "a", {}, BERTH_METRIC_GAUGE), BERTH_SUCCESS);
  EXPECT_EQ(metrics_.Read()[0].kind, MetricKind::kCounter);
  young->Begin();
  Observe(*young, index_, 7);
  Observe(*host_, index_, 1);
  ASSERT_EQ(metrics_.Read().size(), 1U);
  EXPECT_EQ(metrics_.Read()[0].kind, MetricKind::kGauge);
  EXPECT_EQ(metrics_.Read()[0].series[0].value, 7);
}

TEST_F(MetricsServiceTest, RefusesAnInvalidDefinition) {
  EXPECT_EQ(Define(*host_, "a b"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Define(*host_, "a", {AsStr("plugin")}), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Define(*host_, "a", {}, 0), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Define(*host_, "a", {}, 4), BERTH_BAD_ARGUMENT);
  berth_metric metric{};
  metric.kind = BERTH_METRIC_COUNTER;
  metric.name = AsStr("a");
  for (const uint32_t size : {0U, uint32_t{sizeof metric} - 1}) {
    metric.struct_size = size;
    EXPECT_EQ(service().define(abi(), &metric, &index_), BERTH_BAD_ARGUMENT) << size;
  }
  metric.struct_size = sizeof metric + 8;
  EXPECT_EQ(service().define(abi(), &metric, &index_), BERTH_SUCCESS) << "of a later version";
}

TEST_F(MetricsServiceTest, AHistogramWithoutBucketsHasTheDefaultBuckets) {
  Define(*host_, "h", {}, BERTH_METRIC_HISTOGRAM);
  EXPECT_EQ(metrics_.Read()[0].bounds.size(), DefaultBuckets().size());
}

TEST_F(MetricsServiceTest, AreOnlyDefinedInCreate) {
  host_->Begin();
  const PluginCall call(*host_, kCallback);
  EXPECT_EQ(Define(*host_, "a"), BERTH_CONFLICT);
  EXPECT_TRUE(metrics_.Read().empty());
}

TEST_F(MetricsServiceTest, EqualLabelValuesGiveTheSameHandle) {
  Define(*host_, "a", {AsStr("zone")});
  const berth_str a = AsStr("a");
  const berth_str b = AsStr("b");
  const uint64_t series = Series(*host_, index_, &a);
  EXPECT_EQ(Series(*host_, index_, &a), series);
  EXPECT_NE(Series(*host_, index_, &b), series);
  const berth_str c = AsStr("c");
  EXPECT_EQ(Series(*host_, index_, &c), 3U) << "there were two series";
}

TEST_F(MetricsServiceTest, AWrongHandleDoesNothing) {
  Define(*host_, "a");
  const uint64_t series = Series(*host_, index_);
  for (const uint64_t wrong : {uint64_t{0}, series + 1, UINT64_MAX}) {
    service().observe(abi(), wrong, 1);
  }
  EXPECT_EQ(metrics_.Read()[0].series[0].value, 0);
  EXPECT_EQ(Faults(), 0U);
  const auto other = Host("test.Other");
  service().observe(other->abi(), series, 1);  // The handle of another instance.
  EXPECT_EQ(metrics_.Read()[0].series[0].value, 0);
}

TEST_F(MetricsServiceTest, TooManySeriesOfMetricAreAFault) {
  Define(*host_, "a", {AsStr("pod")});
  uint64_t series = 0;
  for (size_t i = 0; i <= MetricStore::kMaxSeries; ++i) {
    const std::string pod = std::to_string(i);
    const berth_str label = AsStr(pod);
    const bool fits = i < MetricStore::kMaxSeries;
    ASSERT_EQ(service().series(abi(), index_, &label, &series), fits ? BERTH_SUCCESS : BERTH_BUG);
  }
  EXPECT_EQ(Faults(), 1U);
  EXPECT_THAT(lines_.back(), HasSubstr("metric a has more than 2000 series"));
  const berth_str another = AsStr("another");
  EXPECT_EQ(service().series(abi(), index_, &another, &series), BERTH_BUG);
  EXPECT_EQ(Faults(), 1U) << "counted once for each instance";
}

TEST_F(MetricsServiceTest, TooManySeriesOfInstanceAreAFault) {
  for (const char* name : {"a", "b", "c"}) Define(*host_, name, {AsStr("pod")});
  uint64_t series = 0;
  const auto get = [&](size_t i) {
    const std::string pod = std::to_string(i);
    const berth_str label = AsStr(pod);
    return service().series(abi(), static_cast<uint32_t>(i % 3), &label, &series);
  };
  for (size_t i = 0; i < SeriesTable::kMaxSeries; ++i) {
    ASSERT_EQ(get(i), BERTH_SUCCESS);
    ASSERT_EQ(series, i + 1);
  }
  EXPECT_EQ(get(SeriesTable::kMaxSeries), BERTH_BUG);
  EXPECT_EQ(Faults(), 1U);
  EXPECT_EQ(get(7), BERTH_SUCCESS) << "a series that exists";
  EXPECT_EQ(series, 8U);
}

TEST_F(MetricsServiceTest, AnyThreadMayObserve) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  std::vector<berth_str> labels;
  for (const std::string& name : names) labels.push_back(AsStr(name));
  ASSERT_EQ(Define(*host_, "b", labels), BERTH_SUCCESS);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      const uint64_t series = Series(*host_, index_, labels.data());
      for (int n = 0; n < 100; ++n) service().observe(abi(), series, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(metrics_.Read().size(), 1U);
  EXPECT_EQ(metrics_.Read()[0].series[0].value, 200);
  std::vector<std::string> values = {"test.Plugin", "default-scheduler"};
  values.insert(values.end(), names.begin(), names.end());
  EXPECT_EQ(metrics_.Read()[0].series[0].label_values, values);
}

}  // namespace
}  // namespace berth::host
