// The workloads of berth-bench. They have the names and sizes of kube-scheduler's performance tests
// (test/integration/scheduler_perf), so that results can be compared with published ones.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_
#define BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::bench {

enum class PodTemplate : uint8_t {
  kDefault,       // Requests 100m cpu and 500Mi memory.
  kNodeAffinity,  // Like kDefault, with required node affinity to zone1 or zone2.
  kTooLarge,      // Requests 9 cpu; nodes have 4.
  kManyRequests,  // Like kDefault, but pods of class i request i milli cpu more.
};

struct Workload {
  std::string_view name;       // "W4/16"
  std::string_view test_case;  // The name in scheduler_perf.
  uint32_t nodes = 0;
  uint32_t init_pods = 0;  // Pods that are scheduled before the measurement.
  uint32_t pods = 0;       // Pods that are measured.
  PodTemplate init_template = PodTemplate::kDefault;
  PodTemplate pod_template = PodTemplate::kDefault;
  uint32_t classes = 1;   // For kManyRequests: pod i is of class i % classes.
  bool one_zone = false;  // All nodes are in zone1. Otherwise they are spread over three zones.
  bool measures_init = false;  // The initial pods are measured too, before the others.
  uint32_t images = 50;        // Container images on each node. Kubelets report at most 50.
};

// Returns all workloads.
std::span<const Workload> Workloads();

// Returns the workload `name`, or all workloads of a family ("W4" for W4/...). The result is empty
// if there is none.
std::span<const Workload> WorkloadsNamed(std::string_view name);

// Returns a node as JSON. One node in ten holds the image of a pod; this differs from
// scheduler_perf, whose nodes hold no images.
std::string NodeJson(const Workload& workload, uint32_t index);
// Returns a pod as JSON. `index` counts all pods of the workload; the first `init_pods` use
// init_template.
std::string PodJson(const Workload& workload, uint32_t index);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_
