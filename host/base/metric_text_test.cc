#include "host/base/metric_text.h"

#include <cmath>
#include <limits>
#include <vector>

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
  std::string labels;
  AppendMetricLabel(labels, "a", "x");
  AppendMetricLabel(labels, "b", "\"q\" \\ \n");
  EXPECT_EQ(labels, "a=\"x\",b=\"\\\"q\\\" \\\\ \\n\"");
  std::string head;
  AppendMetricHead(head, "m", "One \"line\" \\ and\nanother.", "gauge");
  EXPECT_EQ(head, "# HELP m One \"line\" \\\\ and\\nanother.\n# TYPE m gauge\n");
}

TEST(MetricTextTest, WritesNoBracesWithoutLabels) {
  std::string out;
  AppendMetricLine(out, "m", "", 1);
  AppendMetricLine(out, "m", "a=\"b\"", 2.5);
  EXPECT_EQ(out, "m 1\nm{a=\"b\"} 2.5\n");
}

TEST(MetricTextTest, BucketsAreCumulative) {
  std::string out;
  const std::vector<double> bounds = {0.001, 1};
  const std::vector<uint64_t> counts = {2, 0, 3};
  AppendMetricHistogram(out, "m", "a=\"b\"", bounds, counts, 6.5);
  EXPECT_EQ(out,
            "m_bucket{a=\"b\",le=\"0.001\"} 2\n"
            "m_bucket{a=\"b\",le=\"1\"} 2\n"
            "m_bucket{a=\"b\",le=\"+Inf\"} 5\n"
            "m_sum{a=\"b\"} 6.5\n"
            "m_count{a=\"b\"} 5\n");
}

TEST(MetricTextTest, AHistogramWithoutLabelsHasOnlyTheBound) {
  std::string out;
  const std::vector<uint64_t> counts = {0};
  AppendMetricHistogram(out, "m", "", {}, counts, 0);
  EXPECT_EQ(out, "m_bucket{le=\"+Inf\"} 0\nm_sum 0\nm_count 0\n");
}

}  // namespace
}  // namespace berth::host
