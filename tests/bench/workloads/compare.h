// Compares the results of two runs of berth-bench.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_COMPARE_H_
#define BERTH_TESTS_BENCH_WORKLOADS_COMPARE_H_

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/status.h"
#include "host/cli/output.h"
#include "tests/bench/workloads/results.h"

namespace berth::bench {

struct Change {
  double before = 0;
  double after = 0;

  // Returns after / before. Returns 1 if both are 0, and nullopt if only `before` is 0.
  std::optional<double> ratio() const;
};

// The changes of the costs of attempts with the same outcome.
struct AttemptCostsChange {
  Change p50_ns;
  Change p99_ns;
  Change cpu_p99_ns;
  std::optional<Change> allocations;  // Set if both runs counted allocations.
};

struct WorkloadChange {
  std::string workload;
  Change bound;
  Change pods_per_second;
  Change decisions_per_second;
  Change cpu_us_per_decision;
  AttemptCostsChange placed;
  AttemptCostsChange refused;
  Change peak_rss_bytes;
};

struct Comparison {
  std::vector<WorkloadChange> workloads;  // Workloads of both runs, in the order of the first.
  std::vector<std::string> missing;       // Workloads that only the first run has.
  std::vector<std::string> remarks;       // Reasons that limit how far the runs are comparable.
};

// Compares two runs. Messages call them `before` and `after`.
// Errors: InvalidArgument if a workload has different numbers of nodes or pods in the two runs, or
//         if they have no workload in common.
host::Result<Comparison> Compare(const Results& first, const std::string& before,
                                 const Results& second, const std::string& after);

nlohmann::ordered_json ToJson(const Comparison& comparison);
void AppendTable(const Comparison& comparison, host::TerminalWidth width, std::string& out);

// Returns one message for each regression: a workload that uses more than `max_slowdown` times the
// CPU time per decision (which does not include the time of other processes), that binds fewer
// pods, or that is missing in the second run.
std::vector<std::string> Regressions(const Comparison& comparison, double max_slowdown);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_COMPARE_H_
