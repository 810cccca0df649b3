// Measures what the metrics of the scheduler cost in an attempt with the default profile: compare
// Attempt/<nodes>/1, with metrics, with Attempt/<nodes>/0, without. The clock of these attempts
// costs almost nothing; PointOnTheRealClock has the cost of one extension point with its two
// readings of the steady clock. An attempt has about ten of them.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "host/base/clock.h"
#include "host/cycle/cycle_meter.h"
#include "tests/harness/default_profile.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

void Attempt(benchmark::State& state) {
  MetricTable table;
  SchedulerMetrics metrics(table);
  Harness harness;
  if (state.range(1) != 0) harness.options().metrics = &metrics;
  for (int64_t i = 0; i < state.range(0); ++i) harness.AddNode({.name = "n" + std::to_string(i)});
  if (!harness.Start(DefaultPlanSpec(TestCatalog())).ok()) std::abort();
  const PodRef pod = harness.objects().Pod({.name = "p", .requests = R"("cpu":"1")"});
  SchedulingCycle& cycle = harness.loop().cycle();
  for (auto _ : state) {
    if (cycle.Decide(pod).node.empty()) std::abort();
  }
}
BENCHMARK(Attempt)->ArgsProduct({{10, 1000, 5000}, {0, 1}});

void PointOnTheRealClock(benchmark::State& state) {
  MetricTable table;
  PointMetrics metrics(table);
  RealClock clock(0, [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  });
  clock.Begin();
  PointMeter meter(metrics, clock, "default-scheduler");
  for (auto _ : state) {
    Metered(&meter, MeteredPoint::kFilter, [] { return berth_code{BERTH_SUCCESS}; });
  }
}
BENCHMARK(PointOnTheRealClock);

}  // namespace
}  // namespace berth::host
