// What one run of a workload came to.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_
#define BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::bench {

// What attempts took, each from the pop of the queue until its pod is assumed, or refused.
struct Taken {
  uint64_t count = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
  // The same without what the machine did meanwhile for others: CPU time of the thread.
  int64_t cpu_p50_ns = 0;
  int64_t cpu_p99_ns = 0;
  // The mean of each; none where they are not counted, or nothing was attempted.
  std::optional<double> allocations = {};
  std::optional<double> allocated_bytes = {};

  template <class Self, class Field>
  static void ForEach(Self& self, Field&& field) {
    field("count", self.count);
    field("p50Ns", self.p50_ns);
    field("p99Ns", self.p99_ns);
    field("maxNs", self.max_ns);
    field("cpuP50Ns", self.cpu_p50_ns);
    field("cpuP99Ns", self.cpu_p99_ns);
    field("allocations", self.allocations);
    field("allocatedBytes", self.allocated_bytes);
  }
};

struct Measurement {
  std::string workload = {};
  std::string test_case = {};
  uint32_t nodes = 0;
  uint32_t init_pods = 0;
  uint32_t pods = 0;

  // Of the measured part: from the first attempt until the queue rests. Objects have been read and
  // stand in the queue before it begins.
  uint64_t bound = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // Of the process.
  double pods_per_second = 0;
  double decisions_per_second = 0;  // Attempts, refusals too.
  double cpu_us_per_decision = 0;   // Where several runs were made: the lowest.
  Taken placed = {};                // Attempts that found a node.
  Taken refused = {};               // The others.

  double load_seconds = 0;      // Reading the objects and filling the queue.
  uint64_t peak_rss_bytes = 0;  // Of a process that ran nothing else; 0: not known.
  // Where several runs were made: of each.
  std::vector<double> decisions_per_second_of_runs = {};
  std::vector<double> cpu_us_per_decision_of_runs = {};

  template <class Self, class Field>
  static void ForEach(Self& self, Field&& field) {
    field("workload", self.workload);
    field("case", self.test_case);
    field("nodes", self.nodes);
    field("initPods", self.init_pods);
    field("pods", self.pods);
    field("bound", self.bound);
    field("seconds", self.seconds);
    field("cpuSeconds", self.cpu_seconds);
    field("podsPerSecond", self.pods_per_second);
    field("decisionsPerSecond", self.decisions_per_second);
    field("cpuUsPerDecision", self.cpu_us_per_decision);
    field("placed", self.placed);
    field("refused", self.refused);
    field("loadSeconds", self.load_seconds);
    field("peakRssBytes", self.peak_rss_bytes);
    field("decisionsPerSecondOfRuns", self.decisions_per_second_of_runs);
    field("cpuUsPerDecisionOfRuns", self.cpu_us_per_decision_of_runs);
  }
};

// The value at or below which `percent` of the values lie: the nearest rank. 0 for none.
// REQUIRES: 0 < percent <= 100. Reorders the values.
int64_t Percentile(std::vector<int64_t>& values, double percent);

// The run whose decisions per second are the median, the lower one of two, with the numbers of all.
// REQUIRES: at least one, of one workload.
Measurement MedianOf(std::vector<Measurement> runs);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_
