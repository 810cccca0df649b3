#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/metrics.h"

namespace berth::host {
namespace {

TEST(MetricsThreadsTest, LosesNoObservationWhileAnotherThreadReads) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kObservations = 2000;
  MetricTable table;
  CounterFamily& counters = table.AddCounter("c_total", "", {"x"});
  GaugeFamily& gauges = table.AddGauge("g", "", {});
  HistogramFamily& histograms = table.AddHistogram("h", "", {}, {1});
  std::atomic<bool> ends = false;
  std::thread reader([&] {
    while (!ends.load()) EXPECT_EQ(table.Read().size(), 3u);
  });
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < kObservations; ++i) {
        counters.With({std::to_string(thread % 2)}).Add();
        gauges.With({}).Add(1);
        histograms.With({}).Observe(i % 2 == 0 ? 0.5 : 1.5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ends.store(true);
  reader.join();

  const auto metrics = table.Read();
  for (const auto& series : metrics[0].series) {
    EXPECT_EQ(series.value, double{kThreads / 2 * kObservations});
  }
  EXPECT_EQ(metrics[1].series[0].value, double{kThreads * kObservations});
  const std::vector<uint64_t> halves(2, kThreads * kObservations / 2);
  EXPECT_EQ(metrics[2].series[0].histogram.buckets, halves);
  EXPECT_EQ(metrics[2].series[0].histogram.sum, double{kThreads * kObservations});
}

}  // namespace
}  // namespace berth::host
