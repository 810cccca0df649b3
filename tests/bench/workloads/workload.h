// What is measured: clusters and pods under the names that kube-scheduler's own performance tests
// (test/integration/scheduler_perf) have for them, so that numbers can be looked up.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_
#define BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::bench {

enum class PodTemplate : uint8_t {
  kDefault,       // 100m of cpu, 500Mi.
  kNodeAffinity,  // The same, and must go to zone1 or zone2.
  kTooLarge,      // 9 cpu, where nodes have 4.
  kManyRequests,  // As kDefault, with 1m more of cpu for each class.
};

struct Workload {
  std::string_view name;       // "W4/16"
  std::string_view test_case;  // Upstream's name.
  uint32_t nodes = 0;
  uint32_t init_pods = 0;  // Are there before.
  uint32_t pods = 0;       // Are measured.
  PodTemplate init_template = PodTemplate::kDefault;
  PodTemplate pod_template = PodTemplate::kDefault;
  uint32_t classes = 1;        // Of kManyRequests: pod i is of class i % classes.
  bool one_zone = false;       // All nodes are in zone1; else they take turns in three.
  bool measures_init = false;  // The first pods are measured with the others, and come before them.
};

// All there are, in their order.
std::span<const Workload> Workloads();

// "W1" is one of them, "W4" all of W4/...; empty: there is none of this name.
std::span<const Workload> WorkloadsNamed(std::string_view name);

// As an API server would send them, JSON.
std::string NodeJson(const Workload& workload, uint32_t index);
// `index`: among all pods of the workload; the first `init_pods` are of init_template.
std::string PodJson(const Workload& workload, uint32_t index);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_
