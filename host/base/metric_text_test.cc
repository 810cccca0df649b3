#include "host/base/metric_text.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

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
