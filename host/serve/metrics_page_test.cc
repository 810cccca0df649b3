#include "host/serve/metrics_page.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::HasSubstr;

TEST(MetricsPageTest, SortsMetricsLabelsAndSeriesByName) {
  MetricTable table;
  CounterFamily& counters = table.AddCounter("b_total", "Bs.", {"result", "profile"});
  counters.With({"scheduled", "x"}).Add(1);
  counters.With({"error", "y"}).Add(2);
  counters.With({"unschedulable", "x"}).Add(3);
  table.AddHistogram("a_seconds", "As.", {"z", "m"}, {0.00002, 1}).With({"1", "2"}).Observe(0.5);
  EXPECT_EQ(ToMetricsText(table.Read()),
            "# HELP a_seconds As.\n"
            "# TYPE a_seconds histogram\n"
            "a_seconds_bucket{m=\"2\",z=\"1\",le=\"2e-05\"} 0\n"
            "a_seconds_bucket{m=\"2\",z=\"1\",le=\"1\"} 1\n"
            "a_seconds_bucket{m=\"2\",z=\"1\",le=\"+Inf\"} 1\n"
            "a_seconds_sum{m=\"2\",z=\"1\"} 0.5\n"
            "a_seconds_count{m=\"2\",z=\"1\"} 1\n"
            "# HELP b_total Bs.\n"
            "# TYPE b_total counter\n"
            "b_total{profile=\"x\",result=\"scheduled\"} 1\n"
            "b_total{profile=\"x\",result=\"unschedulable\"} 3\n"
            "b_total{profile=\"y\",result=\"error\"} 2\n");
}

TEST(MetricsPageTest, LeavesOutMetricsWithoutSeries) {
  MetricTable table;
  table.AddCounter("a_total", "As.", {"x"});
  table.AddCounter("b_total", "Bs.", {});
  EXPECT_EQ(ToMetricsText(table.Read()), "# HELP b_total Bs.\n# TYPE b_total counter\nb_total 0\n");
}

TEST(MetricsPageTest, AddsTheTextOfOthersAtTheEnd) {
  const MetricTable table;
  const std::string alone = MetricsPage(table, nullptr);
  EXPECT_THAT(alone, HasSubstr("process_open_fds "));
  EXPECT_TRUE(MetricsPage(table, [] { return std::string("more\n"); }).ends_with("\nmore\n"));
}

ProcessTexts SomeTexts() {
  return {
      .stat =
          "12 (a) b (c) S 1 12 12 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 5 0 4200 123456789 300 "
          "18446744073709551615 1 1\n",
      .system_stat = "cpu  1 2 3\nbtime 1700000000\nprocesses 5\n",
      .limits =
          "Limit                     Soft Limit           Hard Limit           Units     \n"
          "Max open files            1024                 524288               files     \n"
          "Max address space         unlimited            unlimited            bytes     \n",
      .open_files = 17,
      .ticks_per_second = 100,
      .page_bytes = 4096};
}

TEST(ProcessMetricsTest, ReadsTheTextsOfTheSystem) {
  const std::string text = ToMetricsText(ToProcessMetrics(SomeTexts()));
  for (const char* line :
       {"# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 2\n",
        "process_max_fds 1024\n", "process_open_fds 17\n",
        "process_resident_memory_bytes 1.2288e+06\n",
        "process_start_time_seconds 1.700000042e+09\n",
        "process_virtual_memory_bytes 1.23456789e+08\n",
        "process_virtual_memory_max_bytes 1.8446744073709552e+19\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ProcessMetricsTest, LeavesOutWhatItCannotRead) {
  EXPECT_TRUE(ToProcessMetrics({}).empty());
  ProcessTexts texts = SomeTexts();
  texts.stat = "12 (cut) S 1 12";
  texts.limits = "Max address space 4096 8192 bytes";
  texts.open_files = std::nullopt;
  const std::string text = ToMetricsText(ToProcessMetrics(texts));
  EXPECT_EQ(text,
            "# HELP process_virtual_memory_max_bytes The maximum of virtual memory in bytes.\n"
            "# TYPE process_virtual_memory_max_bytes gauge\n"
            "process_virtual_memory_max_bytes 4096\n");
}

TEST(ProcessMetricsTest, ReadsThisProcess) {
  EXPECT_GE(ToProcessMetrics(ReadProcessTexts()).size(), 6u);
}

}  // namespace
}  // namespace berth::host
