// The service berth.metrics/1.
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/plugin_call.h"
#include "host/runtime/test_services.h"

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

  uint32_t index_ = UINT32_MAX;
};

TEST_F(MetricsServiceTest, AddsPluginAndProfile) {
  ASSERT_EQ(Define(*host_, "a_total", {AsStr("zone")}), BERTH_SUCCESS);
  const berth_str zone = AsStr("z");
  service().observe(abi(), index_, &zone, 3);
  const auto read = metrics_.Read();
  ASSERT_EQ(read.size(), 1U);
  ASSERT_EQ(read[0].series.size(), 1U);
  EXPECT_EQ(read[0].family.help, "Help.");
  EXPECT_EQ(read[0].series[0].plugin, "test.Plugin");
  EXPECT_EQ(read[0].series[0].profile, "default-scheduler");
  EXPECT_THAT(read[0].series[0].label_values, ElementsAre("z"));
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
  service().observe(other->abi(), 0, nullptr, 5);
  service().observe(other->abi(), 1, nullptr, 5);  // Not its index: ignored.
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
  service().observe(abi(), index_, nullptr, 1);
  const auto young = Host("test.Plugin");
  ASSERT_EQ(Define(*young, "a", {}, BERTH_METRIC_GAUGE), BERTH_SUCCESS);
  EXPECT_EQ(metrics_.Read()[0].family.kind, MetricKind::kCounter);
  young->Begin();
  service().observe(young->abi(), index_, nullptr, 7);
  service().observe(abi(), index_, nullptr, 1);
  ASSERT_EQ(metrics_.Read().size(), 1U);
  EXPECT_EQ(metrics_.Read()[0].family.kind, MetricKind::kGauge);
  EXPECT_EQ(metrics_.Read()[0].series[0].value, 7);
}

TEST_F(MetricsServiceTest, RefusesAnInvalidDefinition) {
  EXPECT_EQ(Define(*host_, "a b"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Define(*host_, "a", {AsStr("plugin")}), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Define(*host_, "a", {}, 0), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Define(*host_, "a", {}, 4), BERTH_BAD_ARGUMENT);
}

TEST_F(MetricsServiceTest, AHistogramWithoutBucketsHasTheDefaultBuckets) {
  Define(*host_, "h", {}, BERTH_METRIC_HISTOGRAM);
  EXPECT_EQ(metrics_.Read()[0].family.buckets.size(), DefaultBuckets().size());
}

TEST_F(MetricsServiceTest, AreOnlyDefinedInCreate) {
  host_->Begin();
  const PluginCall call(*host_, kCallback);
  EXPECT_EQ(Define(*host_, "a"), BERTH_CONFLICT);
  EXPECT_TRUE(metrics_.Read().empty());
}

TEST_F(MetricsServiceTest, AnyThreadMayObserve) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  std::vector<berth_str> labels;
  for (const std::string& name : names) labels.push_back(AsStr(name));
  ASSERT_EQ(Define(*host_, "b", labels),
            BERTH_SUCCESS);  // More labels than fit into the local array.
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) service().observe(abi(), index_, labels.data(), 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(metrics_.Read().size(), 1U);
  EXPECT_EQ(metrics_.Read()[0].series[0].value, 200);
  EXPECT_THAT(metrics_.Read()[0].series[0].label_values, ::testing::ElementsAreArray(names));
}

}  // namespace
}  // namespace berth::host
