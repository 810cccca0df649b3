#include "host/base/metrics.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(HistogramTest, CountsAValueInTheFirstSufficientBucket) {
  struct Case {
    const char* name;
    double value;
    std::vector<uint64_t> buckets;
  };
  const Case cases[] = {
      {"below the first bound", 0.5, {1, 0, 0}},
      {"negative", -1, {1, 0, 0}},
      {"equal to the first bound", 1, {1, 0, 0}},
      {"just above the first bound", std::nextafter(1.0, 2.0), {0, 1, 0}},
      {"equal to the last bound", 2, {0, 1, 0}},
      {"just above the last bound", std::nextafter(2.0, 3.0), {0, 0, 1}},
      {"not a number", std::nan(""), {0, 0, 1}},
  };
  for (const Case& c : cases) {
    Histogram histogram({1, 2});
    histogram.Observe(c.value);
    EXPECT_EQ(histogram.Read().buckets, c.buckets) << c.name;
  }
}

TEST(HistogramTest, AddsUpTheValues) {
  Histogram histogram({1});
  histogram.Observe(0.25);
  histogram.ObserveNs(1'500'000'000);
  EXPECT_EQ(histogram.Read().sum, 1.75);
  EXPECT_THAT(histogram.Read().buckets, ElementsAre(1, 1));
}

TEST(ExponentialBoundsTest, MultipliesEachBoundByTheFactor) {
  EXPECT_THAT(ExponentialBounds(1, 2, 5), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(ExponentialBounds(0.5, 3, 1), ElementsAre(0.5));
  // One multiplication after the other rounds differently than a power of the factor.
  double bound = 0.00001;
  for (size_t i = 1; i < 20; ++i) bound *= 1.5;
  EXPECT_EQ(ExponentialBounds(0.00001, 1.5, 20).back(), bound);
}

TEST(MetricTableTest, ListsMetricsByAdditionAndSeriesByLabels) {
  MetricTable table;
  CounterFamily& counters = table.AddCounter("c_total", "Cs.", {"result", "profile"});
  GaugeFamily& gauges = table.AddGauge("a", "As.", {"queue"});
  counters.With({"scheduled", "x"}).Add(2);
  counters.With({"error", "x"}).Add();
  counters.With({"scheduled", "x"}).Add();
  gauges.With({"active"}).Set(-4);
  gauges.With({"active"}).Add(1);

  const auto metrics = table.Read();
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "c_total");
  EXPECT_EQ(metrics[0].help, "Cs.");
  EXPECT_EQ(metrics[0].kind, MetricTable::Metric::Kind::kCounter);
  EXPECT_THAT(metrics[0].labels, ElementsAre("result", "profile"));
  ASSERT_EQ(metrics[0].series.size(), 2u);
  EXPECT_THAT(metrics[0].series[0].label_values, ElementsAre("error", "x"));
  EXPECT_EQ(metrics[0].series[0].value, 1);
  EXPECT_EQ(metrics[0].series[1].value, 3);
  EXPECT_EQ(metrics[1].kind, MetricTable::Metric::Kind::kGauge);
  ASSERT_EQ(metrics[1].series.size(), 1u);
  EXPECT_EQ(metrics[1].series[0].value, -3);
}

TEST(MetricTableTest, MetricWithoutLabelsHasItsSeriesFromBeginning) {
  MetricTable table;
  table.AddCounter("c_total", "", {});
  table.AddGauge("g", "", {});
  table.AddHistogram("h", "", {}, {1, 2});
  table.AddCounter("labelled_total", "", {"x"});
  const auto metrics = table.Read();
  EXPECT_EQ(metrics[0].series.size(), 1u);
  EXPECT_EQ(metrics[1].series.size(), 1u);
  ASSERT_EQ(metrics[2].series.size(), 1u);
  EXPECT_THAT(metrics[2].series[0].histogram.buckets, ElementsAre(0, 0, 0));
  EXPECT_THAT(metrics[2].bounds, ElementsAre(1, 2));
  EXPECT_EQ(metrics[3].series.size(), 0u);
}

TEST(MetricTableTest, RefreshesBeforeEachRead) {
  MetricTable table;
  Gauge& gauge = table.AddGauge("g", "", {}).With({});
  int64_t calls = 0;
  table.AddRefresh([&] { gauge.Set(++calls); });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(table.Read()[0].series[0].value, 1);
  EXPECT_EQ(table.Read()[0].series[0].value, 2);
}

TEST(InstrumentFamilyTest, ListsAtMostTheMaximumOfSeries) {
  CounterFamily family(1, 2, [] { return std::make_unique<Counter>(); });
  family.With({"a"}).Add(1);
  family.With({"b"}).Add(2);
  family.With({"c"}).Add(3);
  family.With({"d"}).Add(4);
  family.With({"a"}).Add(10);
  std::vector<std::string> listed;
  family.ForEach([&](std::span<const std::string> values, const Counter& counter) {
    listed.push_back(values[0] + "=" + std::to_string(counter.value()));
  });
  EXPECT_THAT(listed, ElementsAre("a=11", "b=2"));
  EXPECT_EQ(&family.With({"c"}), &family.With({"e"})) << "the one that is not listed";
}

TEST(MetricTableDeathTest, AbortsOnDuplicateNamesAndWrongLabelCounts) {
  MetricTable table;
  CounterFamily& family = table.AddCounter("c_total", "", {"x"});
  EXPECT_DEATH(table.AddGauge("c_total", "", {}), "c_total was added before");
  EXPECT_DEATH(family.With({"a", "b"}), "2 values for 1 labels");
  EXPECT_DEATH(family.With({}), "0 values for 1 labels");
  EXPECT_DEATH(Histogram({2, 1}), "assertion failed");
  EXPECT_DEATH(Histogram({1, 1}), "assertion failed");
}

TEST(MetricTextTest, FormatsNumbersAsGoDoes) {
  struct Case {
    double value;
    const char* text;
  };
  const double inf = std::numeric_limits<double>::infinity();
  const Case cases[] = {
      {0, "0"},
      {-0.0, "0"},
      {1, "1"},
      {-1.5, "-1.5"},
      {0.001, "0.001"},
      {0.0001, "0.0001"},
      {0.00009, "9e-05"},
      {0.0000225, "2.25e-05"},
      {0.0019461950683593758, "0.0019461950683593758"},
      {5242.88, "5242.88"},
      {100000, "100000"},
      {999999, "999999"},
      {1000000, "1e+06"},
      {1234567, "1.234567e+06"},
      {-1000000, "-1e+06"},
      {1e100, "1e+100"},
      {inf, "+Inf"},
      {-inf, "-Inf"},
      {std::nan(""), "NaN"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatMetricNumber(c.value), c.text) << c.text;
}

TEST(MetricTextTest, EscapesValuesOfLabelsAndHelp) {
  const MetricTable::Metric metric{.kind = MetricTable::Metric::Kind::kGauge,
                                   .name = "m",
                                   .help = "One \"line\" \\ and\nanother.",
                                   .labels = {"a", "b"},
                                   .bounds = {},
                                   .series = {{{"x", "\"q\" \\ \n"}, 1, {}}}};
  EXPECT_EQ(ToText({&metric, 1}),
            "# HELP m One \"line\" \\\\ and\\nanother.\n# TYPE m gauge\n"
            "m{a=\"x\",b=\"\\\"q\\\" \\\\ \\n\"} 1\n");
}

TEST(MetricTextTest, WritesNoBracesWithoutLabels) {
  MetricTable table;
  table.AddCounter("m", "M.", {}).With({}).Add(1);
  table.AddGauge("n", "N.", {"a"}).With({"b"}).Set(-2);
  EXPECT_EQ(ToText(table.Read()),
            "# HELP m M.\n# TYPE m counter\nm 1\n"
            "# HELP n N.\n# TYPE n gauge\nn{a=\"b\"} -2\n");
}

TEST(MetricTextTest, BucketsAreCumulative) {
  const MetricTable::Metric metric{.kind = MetricTable::Metric::Kind::kHistogram,
                                   .name = "m",
                                   .help = "M.",
                                   .labels = {"a"},
                                   .bounds = {0.001, 1},
                                   .series = {{{"b"}, 0, {6.5, {2, 0, 3}}}}};
  EXPECT_EQ(ToText({&metric, 1}),
            "# HELP m M.\n# TYPE m histogram\n"
            "m_bucket{a=\"b\",le=\"0.001\"} 2\n"
            "m_bucket{a=\"b\",le=\"1\"} 2\n"
            "m_bucket{a=\"b\",le=\"+Inf\"} 5\n"
            "m_sum{a=\"b\"} 6.5\n"
            "m_count{a=\"b\"} 5\n");
}

TEST(MetricTextTest, AHistogramWithoutLabelsHasOnlyTheBound) {
  const MetricTable::Metric metric{.kind = MetricTable::Metric::Kind::kHistogram,
                                   .name = "m",
                                   .help = "M.",
                                   .labels = {},
                                   .bounds = {},
                                   .series = {{{}, 0, {0, {0}}}}};
  EXPECT_EQ(ToText({&metric, 1}),
            "# HELP m M.\n# TYPE m histogram\nm_bucket{le=\"+Inf\"} 0\nm_sum 0\nm_count 0\n");
}

}  // namespace
}  // namespace berth::host
