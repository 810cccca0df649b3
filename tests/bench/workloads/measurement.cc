#include "tests/bench/workloads/measurement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/base/assert.h"

namespace berth::bench {

int64_t Percentile(std::vector<int64_t>& values, double percent) {
  BERTH_ASSERT(percent > 0 && percent <= 100);
  if (values.empty()) return 0;
  const auto rank =
      static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(values, place);
  return *place;
}

Measurement MedianOf(std::vector<Measurement> runs) {
  BERTH_ASSERT(!runs.empty());
  std::vector<double> rates;
  std::vector<double> costs;
  for (const Measurement& run : runs) {
    rates.push_back(run.decisions_per_second);
    costs.push_back(run.cpu_us_per_decision);
  }
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::ranges::nth_element(runs, middle, {}, &Measurement::decisions_per_second);
  Measurement median = std::move(*middle);
  median.cpu_us_per_decision = *std::ranges::min_element(costs);
  median.decisions_per_second_of_runs = std::move(rates);
  median.cpu_us_per_decision_of_runs = std::move(costs);
  return median;
}

}  // namespace berth::bench
