// The result of one run of a workload.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_
#define BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::bench {

// The costs of attempts with the same outcome, each measured from popping the pod off the queue
// until it is assumed or the attempt failed.
struct AttemptCosts {
  uint64_t count = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
  // The CPU time of the thread, which does not include the time of other processes.
  int64_t cpu_p50_ns = 0;
  int64_t cpu_p99_ns = 0;
  // Means per attempt. Not set if allocations are not counted or there was no attempt.
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
  uint32_t images = 0;  // Of each node.
  uint32_t init_pods = 0;
  uint32_t pods = 0;

  // These fields cover the measured part: from the first attempt until the queue is idle. All
  // objects have been read and all pods are in the queue before it starts.
  uint64_t bound = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // The CPU time of the whole process.
  double pods_per_second = 0;
  double decisions_per_second = 0;  // All attempts, including failed ones.
  double cpu_us_per_decision = 0;   // The lowest value if there were several runs.
  AttemptCosts placed = {};         // Attempts that found a node.
  AttemptCosts refused = {};        // Attempts that failed.

  double load_seconds = 0;      // The time to read the objects and fill the queue.
  uint64_t peak_rss_bytes = 0;  // The peak of a process that ran only this run; 0 if not known.
  // One value for each run if there were several runs.
  std::vector<double> decisions_per_second_of_runs = {};
  std::vector<double> cpu_us_per_decision_of_runs = {};

  template <class Self, class Field>
  static void ForEach(Self& self, Field&& field) {
    field("workload", self.workload);
    field("case", self.test_case);
    field("nodes", self.nodes);
    field("images", self.images);
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

// Returns the percentile by the nearest-rank method, or 0 if there are no values. Reorders
// `values`.
// REQUIRES: 0 < percent <= 100.
int64_t Percentile(std::vector<int64_t>& values, double percent);

// Returns the run with the median of decisions_per_second (of two middle runs, the lower one). Its
// cpu_us_per_decision is the lowest of all runs, and its lists contain the values of all runs.
// REQUIRES: `runs` is not empty and contains runs of one workload.
Measurement MedianOf(std::vector<Measurement> runs);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_MEASUREMENT_H_
