// What one run of a workload came to.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_
#define BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/status.h"

namespace berth::bench {

struct Measurement {
  std::string workload = {};
  std::string test_case = {};
  uint32_t nodes = 0;
  uint32_t init_pods = 0;
  uint32_t pods = 0;

  // Of the measured part: from the first decision until the queue rests. Objects have been read and
  // stand in the queue before it begins.
  uint64_t decisions = 0;  // Attempts: as many as pods where none is tried twice.
  uint64_t bound = 0;
  uint64_t refused = 0;
  double seconds = 0;
  double cpu_seconds = 0;          // Of the process.
  double cpu_us_per_decision = 0;  // Least disturbed by what else the machine does.
  double pods_per_second = 0;      // Of those that were bound.
  double decisions_per_second = 0;

  // From the pop of the queue until the pod is assumed, or refused.
  int64_t decision_p50_ns = 0;
  int64_t decision_p99_ns = 0;
  int64_t decision_max_ns = 0;
  // Within that time; none where they are not counted.
  std::optional<double> allocations_per_decision = {};
  std::optional<double> allocated_bytes_per_decision = {};

  double load_seconds = 0;      // Reading the objects and filling the queue.
  uint64_t peak_rss_bytes = 0;  // Of the process that ran nothing else; 0: not known.
  std::vector<double> pods_per_second_of_runs = {};  // Where several were made: of each.
};

nlohmann::ordered_json ToJson(const Measurement& measurement);
// Errors: InvalidArgument for what is missing, or of another type: says the key.
host::Result<Measurement> MeasurementFrom(const nlohmann::json& json);

// The value at or below which `percent` of the values lie: the nearest rank. 0 for none.
// REQUIRES: 0 < percent <= 100. Reorders the values.
int64_t Percentile(std::vector<int64_t>& values, double percent);

// The run whose pods per second are the median, the lower one of two, with those of all.
// REQUIRES: at least one, of one workload.
Measurement MedianOf(std::vector<Measurement> runs);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_
