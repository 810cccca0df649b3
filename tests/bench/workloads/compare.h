// Two runs side by side.
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

  // after / before: 2 is twice as much. 1 where both are 0; none where only `before` is.
  std::optional<double> ratio() const;
};

// Of attempts of one kind.
struct TakenChange {
  Change p50_ns;
  Change p99_ns;
  Change cpu_p99_ns;
  std::optional<Change> allocations;  // Where both were counted.
};

struct WorkloadChange {
  std::string workload;
  Change bound;
  Change pods_per_second;
  Change decisions_per_second;
  Change cpu_us_per_decision;
  TakenChange placed;
  TakenChange refused;
  Change peak_rss_bytes;
};

struct Comparison {
  std::vector<WorkloadChange> workloads;  // Of both, in the order of the first.
  std::vector<std::string> missing;       // Those that only the first has.
  std::vector<std::string> remarks;       // What makes it less than a comparison.
};

// `before` and `after` are what messages call the two.
// Errors: InvalidArgument where a workload of the same name had other nodes or pods, or where they
//         have no workload in common.
host::Result<Comparison> Compare(const Results& first, const std::string& before,
                                 const Results& second, const std::string& after);

nlohmann::ordered_json ToJson(const Comparison& comparison);
void AppendTable(const Comparison& comparison, host::TerminalWidth width, std::string& out);

// What became worse, a sentence each: a workload of which a decision takes more CPU time than
// before by more than a factor of `max_slowdown` (the time that the machine took for other things
// is not in it), that binds fewer pods, or that is missing.
std::vector<std::string> Regressions(const Comparison& comparison, double max_slowdown);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_COMPARE_H_
