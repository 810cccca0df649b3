// The workloads of berth-bench. They have the names and sizes of kube-scheduler's performance tests
// (test/integration/scheduler_perf), so that results can be compared with published ones.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_
#define BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::bench {

enum class PodTemplate : uint8_t {
  kDefault,       // Requests 100m cpu and 500Mi memory.
  kNodeAffinity,  // Like kDefault, with required node affinity to zone1 or zone2.
  kTooLarge,      // Requests 9 cpu; nodes have 4.
  kManyRequests,  // Like kDefault, but pods of class i request i milli cpu more.
  // The following are like kDefault, with a label and a term that selects the pods with this label.
  kHardSpread,             // Spread over zones with maxSkew 5, DoNotSchedule.
  kSoftSpread,             // Spread over zones with maxSkew 5, ScheduleAnyway.
  kHostAntiAffinity,       // Required anti-affinity by hostname, in the namespaces sched-0 and -1.
  kZoneAffinity,           // Required affinity by zone, in the namespaces sched-0 and sched-1.
  kNamespaceAntiAffinity,  // Required anti-affinity by hostname, in namespaces with a label.
};

// The namespaces of the pods.
enum class Namespaces : uint8_t {
  kDefault,  // All pods are in the namespace default.
  kTwo,      // The initial pods are in sched-0, the others in sched-1.
  kMany,     // The initial pods are in 100 namespaces, the others in another one; all have a label.
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
  Namespaces namespaces = Namespaces::kDefault;
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
// Returns the namespaces of the pods as JSON, without the namespace default.
std::vector<std::string> NamespacesJson(const Workload& workload);
// Returns a pod as JSON. `index` counts all pods of the workload; the first `init_pods` use
// init_template.
std::string PodJson(const Workload& workload, uint32_t index);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_WORKLOAD_H_
