#include "host/runtime/services/metric_store.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/metrics.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class MetricStoreTest : public ::testing::Test {
 protected:
  using MetricRef = std::shared_ptr<MetricStore::Metric>;

  MetricRef Define(MetricFamily family, std::string_view plugin = "p",
                   std::string_view profile = "default") {
    auto metric = store_.Define(std::move(family), plugin, profile);
    EXPECT_TRUE(metric.ok()) << metric.status().ToString();
    return metric.ok() ? *metric : nullptr;
  }
  ErrorCode CodeOf(MetricFamily family, std::string_view plugin = "p") {
    return store_.Define(std::move(family), plugin, "default").status().code();
  }
  void Observe(const MetricRef& metric, std::vector<std::string_view> labels, double value) {
    const auto series = store_.SeriesOf(*metric, labels);
    ASSERT_TRUE(series.ok()) << series.status().ToString();
    (*series)->Observe(value);
  }
  std::string Text() const { return ToText(store_.Read()); }

  MetricStore store_;
};

TEST_F(MetricStoreTest, ACounterAdds) {
  const auto metric = Define({.name = "a_total", .help = "As."});
  EXPECT_EQ(Text(), "# HELP a_total As.\n# TYPE a_total counter\n");
  Observe(metric, {}, 2);
  Observe(metric, {}, 0.5);
  Observe(metric, {}, -1);
  Observe(metric, {}, std::nan(""));
  Observe(metric, {}, 0);
  EXPECT_EQ(Text(),
            "# HELP a_total As.\n# TYPE a_total counter\n"
            "a_total{plugin=\"p\",profile=\"default\"} 2.5\n");
}

TEST_F(MetricStoreTest, AGaugeIsSet) {
  const auto metric = Define({.kind = MetricKind::kGauge, .name = "g", .help = ""});
  Observe(metric, {}, 7);
  Observe(metric, {}, -3);
  EXPECT_EQ(Text(), "# HELP g \n# TYPE g gauge\ng{plugin=\"p\",profile=\"default\"} -3\n");
}

TEST_F(MetricStoreTest, AHistogramCountsUpToEachBound) {
  const auto metric =
      Define({.kind = MetricKind::kHistogram, .name = "h", .help = "H", .buckets = {1, 2}});
  for (const double value : {0.5, 1.0, 1.5, 2.0, 2.5, std::nan("")}) Observe(metric, {}, value);
  const std::string labels = "plugin=\"p\",profile=\"default\"";
  EXPECT_EQ(Text(), "# HELP h H\n# TYPE h histogram\nh_bucket{" + labels +
                        ",le=\"1\"} 2\nh_bucket{" + labels + ",le=\"2\"} 4\nh_bucket{" + labels +
                        ",le=\"+Inf\"} 5\nh_sum{" + labels + "} 7.5\nh_count{" + labels + "} 5\n");
}

TEST_F(MetricStoreTest, InfinityIsBeyondEveryBound) {
  const auto metric =
      Define({.kind = MetricKind::kHistogram, .name = "h", .help = "", .buckets = {1}});
  Observe(metric, {}, std::numeric_limits<double>::infinity());
  const auto read = store_.Read();
  EXPECT_THAT(read[0].series[0].histogram.buckets, ElementsAre(0U, 1U));
}

TEST_F(MetricStoreTest, SeriesByPluginProfileAndLabels) {
  const MetricFamily family = {.name = "a_total", .help = "", .label_names = {"zone", "rack"}};
  const auto b = Define(family, "p", "b");
  const auto a = Define(family, "p", "a");
  Observe(b, {"z", "2"}, 1);
  Observe(b, {"z", "1"}, 2);
  Observe(a, {"z", "1"}, 4);
  Observe(b, {"z", "2"}, 8);
  EXPECT_EQ(Text(),
            "# HELP a_total \n# TYPE a_total counter\n"
            "a_total{plugin=\"p\",profile=\"a\",zone=\"z\",rack=\"1\"} 4\n"
            "a_total{plugin=\"p\",profile=\"b\",zone=\"z\",rack=\"1\"} 2\n"
            "a_total{plugin=\"p\",profile=\"b\",zone=\"z\",rack=\"2\"} 9\n");
}

// A plugin is created anew each time its profile is reloaded.
TEST_F(MetricStoreTest, RepeatedDefinitionsUseNoMoreMemory) {
  const std::string profile(4096, 'p');
  const auto define = [&](int times) {
    for (int i = 0; i < times; ++i) Define({.name = "a", .help = "A"}, "p", profile);
  };
  define(10);
  const size_t before = mallinfo2().uordblks;
  if (before == 0) GTEST_SKIP() << "nobody counts";
  define(1000);
  EXPECT_LT(mallinfo2().uordblks, before + 1000 * 16);
}

TEST_F(MetricStoreTest, TextsAreEscaped) {
  const auto metric =
      Define({.name = "a", .help = "one \"line\"\nand \\ more", .label_names = {"l"}});
  Observe(metric, {"a\"b\\c\nd"}, 1);
  EXPECT_EQ(Text(),
            "# HELP a one \"line\"\\nand \\\\ more\n# TYPE a counter\n"
            "a{plugin=\"p\",profile=\"default\",l=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST_F(MetricStoreTest, ANameHasOnePluginAndOneDefinition) {
  const auto metric = Define({.name = "a", .help = "A"});
  EXPECT_EQ(CodeOf({.name = "a", .help = "A"}, "other"), ErrorCode::kAlreadyExists);
  EXPECT_EQ(CodeOf({.kind = MetricKind::kGauge, .name = "a", .help = "A"}),
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(CodeOf({.name = "a", .help = "B"}), ErrorCode::kAlreadyExists);
  EXPECT_EQ(CodeOf({.name = "a", .help = "A", .label_names = {"l"}}), ErrorCode::kAlreadyExists);
  EXPECT_EQ(CodeOf({.name = "a", .help = "A"}), ErrorCode::kOk);
}

TEST_F(MetricStoreTest, ACounterContinuesWithTheNextInstance) {
  auto metric = Define({.name = "a", .help = ""});
  Observe(metric, {}, 1);
  metric.reset();
  metric = Define({.name = "a", .help = ""});
  Observe(metric, {}, 1);
  EXPECT_EQ(store_.Read()[0].series[0].value, 2);
}

TEST_F(MetricStoreTest, ALaterInstanceMayRedefineAMetric) {
  auto metric = Define({.name = "a", .help = ""});
  Observe(metric, {}, 1);
  metric.reset();
  metric = Define({.name = "a", .help = "", .label_names = {"l"}});
  EXPECT_TRUE(store_.Read()[0].series.empty());
}

// A new version of a plugin is loaded while bindings still use the old one.
TEST_F(MetricStoreTest, AReplacingInstanceMayRedefineAMetric) {
  const auto old = Define({.name = "a", .help = ""});
  store_.Begin(*old);
  Observe(old, {}, 1);
  const auto young = Define({.kind = MetricKind::kGauge, .name = "a", .help = ""});
  EXPECT_EQ(store_.Read()[0].kind, MetricKind::kCounter) << "the new instance may never begin";
  Observe(young, {}, 7);
  store_.Begin(*young);
  Observe(old, {}, 1);
  EXPECT_EQ(Text(), "# HELP a \n# TYPE a gauge\na{plugin=\"p\",profile=\"default\"} 7\n");
}

TEST_F(MetricStoreTest, NameIsFreeAfterItsPluginsLastInstance) {
  auto metric = Define({.name = "a", .help = "A"});
  store_.Begin(*metric);
  Observe(metric, {}, 1);
  metric = nullptr;
  metric = Define({.name = "a", .help = "A"}, "other");
  EXPECT_EQ(Text(), "# HELP a A\n# TYPE a counter\n");
  EXPECT_EQ(CodeOf({.name = "a", .help = "A"}), ErrorCode::kAlreadyExists);
}

// A plugin is renamed, or a metric moves to another plugin, within one reload.
TEST_F(MetricStoreTest, AnotherPluginMayTakeOverTheName) {
  const auto old = Define({.name = "a", .help = "A"});
  EXPECT_EQ(CodeOf({.name = "a", .help = "A"}, "other"), ErrorCode::kAlreadyExists)
      << "both are being loaded";
  store_.Begin(*old);
  Observe(old, {}, 1);
  const auto young = Define({.name = "a", .help = "A"}, "other");
  EXPECT_EQ(CodeOf({.name = "a", .help = "A"}), ErrorCode::kAlreadyExists)
      << "both are being loaded";
  EXPECT_EQ(Text(), "# HELP a A\n# TYPE a counter\na{plugin=\"p\",profile=\"default\"} 1\n");
  store_.Begin(*young);
  Observe(old, {}, 1);
  Observe(young, {}, 5);
  EXPECT_EQ(Text(), "# HELP a A\n# TYPE a counter\na{plugin=\"other\",profile=\"default\"} 5\n");
}

TEST_F(MetricStoreTest, AnInstanceThatNeverBeginsChangesNothing) {
  const auto old = Define({.name = "a", .help = ""});
  store_.Begin(*old);
  Observe(old, {}, 1);
  Define({.kind = MetricKind::kGauge, .name = "a", .help = ""});
  Define({.name = "a", .help = "", .label_names = {"l"}});
  Observe(old, {}, 1);
  EXPECT_EQ(store_.Read()[0].series[0].value, 2);
  store_.Begin(*Define({.name = "a", .help = ""}));
  EXPECT_EQ(store_.Read()[0].series[0].value, 2);
}

// The oldest instance may be destroyed last.
TEST_F(MetricStoreTest, TheNewestDefinitionStays) {
  const auto old = Define({.name = "a", .help = ""});
  store_.Begin(*old);
  auto young = Define({.kind = MetricKind::kGauge, .name = "a", .help = ""});
  store_.Begin(*young);
  Observe(young, {}, 7);
  young.reset();
  Observe(old, {}, 1);
  EXPECT_EQ(store_.Read()[0].series[0].value, 7);
  // An earlier definition starts again from zero.
  young = Define({.name = "a", .help = ""});
  store_.Begin(*young);
  Observe(old, {}, 1);
  Observe(young, {}, 5);
  EXPECT_EQ(store_.Read()[0].series[0].value, 5);
}

TEST_F(MetricStoreTest, InstancesThatStartTogetherMustAgree) {
  const MetricFamily before = {.name = "a", .help = ""};
  const MetricFamily after = {.name = "a", .help = "", .label_names = {"l"}};
  const auto old = Define(before, "p", "x");
  store_.Begin(*old);
  {
    const auto x = Define(after, "p", "x");
    EXPECT_EQ(CodeOf(before), ErrorCode::kAlreadyExists);
    const auto y = Define(after, "p", "y");
    store_.Begin(*x);
    store_.Begin(*y);
    Observe(x, {"1"}, 1);
    Observe(y, {"1"}, 2);
    EXPECT_EQ(store_.Read()[0].series.size(), 2U);
  }
  {
    const auto x = Define(after, "p", "x");
    EXPECT_EQ(CodeOf(before), ErrorCode::kAlreadyExists)
        << "an instance with another definition is still active";
  }
  EXPECT_EQ(CodeOf(before), ErrorCode::kOk);
}

TEST_F(MetricStoreTest, RefusesInvalidDefinitions) {
  constexpr auto kBad = ErrorCode::kInvalidArgument;
  for (const char* name : {"", "1a", "a-b", "a b", "ä"}) {
    EXPECT_EQ(CodeOf({.name = name, .help = ""}), kBad) << name;
    EXPECT_EQ(CodeOf({.name = "a", .help = "", .label_names = {name}}), kBad) << name;
  }
  EXPECT_EQ(CodeOf({.name = "a:b_1", .help = "", .label_names = {"_a1"}}), ErrorCode::kOk);
  for (const char* label : {"plugin", "profile", "__name", "a:b"}) {
    EXPECT_EQ(CodeOf({.name = "b", .help = "", .label_names = {label}}), kBad) << label;
  }
  EXPECT_EQ(CodeOf({.name = "c", .help = "", .label_names = {"l", "m", "l"}}), kBad);
  constexpr auto kHistogram = MetricKind::kHistogram;
  EXPECT_EQ(CodeOf({.kind = kHistogram, .name = "d", .help = "", .label_names = {"le"}}), kBad);
  EXPECT_EQ(CodeOf({.name = "e", .help = "", .label_names = {"le"}}), ErrorCode::kOk);
  for (const std::vector<double>& buckets :
       {std::vector<double>{1, 1}, {2, 1}, {std::nan("")}, {1, HUGE_VAL}}) {
    EXPECT_EQ(CodeOf({.kind = kHistogram, .name = "f", .help = "", .buckets = buckets}), kBad);
  }
}

TEST_F(MetricStoreTest, RefusesSeriesBeyondTheLimit) {
  const auto metric = Define({.name = "a", .help = "", .label_names = {"pod"}});
  for (size_t i = 0; i < MetricStore::kMaxSeries; ++i) {
    Observe(metric, {std::to_string(i)}, 1);
  }
  const std::string_view one_more = "one more";
  const auto refused = store_.SeriesOf(*metric, {&one_more, 1});
  EXPECT_EQ(refused.status(), Status::OutOfRange("metric a has more than 2000 series"));
  Observe(metric, {"0"}, 1);  // A series that exists.
  EXPECT_EQ(store_.Read()[0].series.size(), MetricStore::kMaxSeries);
}

TEST_F(MetricStoreTest, EqualLabelValuesAreOneSeries) {
  const auto metric = Define({.name = "a", .help = "", .label_names = {"pod"}});
  const auto other = Define({.name = "a", .help = "", .label_names = {"pod"}}, "p", "binpack");
  const std::string_view x = "x";
  const std::string_view y = "y";
  const auto series = [&](const MetricRef& of, const std::string_view& label) {
    return store_.SeriesOf(*of, {&label, 1}).value();
  };
  EXPECT_EQ(series(metric, x), series(metric, std::string("x")));
  EXPECT_NE(series(metric, x), series(metric, y));
  EXPECT_NE(series(metric, x), series(other, x)) << "each profile has its own";
}

TEST_F(MetricStoreTest, DefaultBucketsReachFrom1To16000Milliseconds) {
  EXPECT_EQ(DefaultBuckets().front(), 0.001);
  EXPECT_EQ(DefaultBuckets().back(), 16.384);
  EXPECT_TRUE(std::ranges::is_sorted(DefaultBuckets()));
}

}  // namespace
}  // namespace berth::host
