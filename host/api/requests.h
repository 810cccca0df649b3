// Computes the resource requests of a pod, which are sums over its containers. They are computed
// once, when the pod is decoded.
#ifndef BERTH_HOST_API_REQUESTS_H_
#define BERTH_HOST_API_REQUESTS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include <berth/abi.h>

#include "host/api/quantity.h"
#include "host/api/resource_list.h"
#include "host/base/arena.h"

namespace berth::host {

// The amounts that count for a container without a cpu or memory request, in scores only.
// kube-scheduler: pkg/scheduler/util/pod_resources.go.
inline constexpr Quantity kDefaultCpu(0, 100'000'000);
inline constexpr Quantity kDefaultMemory(int64_t{200} * 1024 * 1024, 0);

// A container in the spec of a pod.
struct ContainerRequests {
  std::string_view name;
  bool sidecar = false;
  ResourceList requests;
};

// The state of a container that the kubelet reports: an entry of status.containerStatuses or
// status.initContainerStatuses.
struct ContainerStatus {
  std::string_view name;
  bool has_resources = false;  // Whether the field resources is set.
  ResourceList requests;       // resources.requests
  ResourceList allocated;      // allocatedResources
};

struct RequestInputs {
  std::span<const ContainerRequests> containers;
  std::span<const ContainerRequests> init_containers;
  std::span<const ContainerStatus> statuses;  // The statuses of containers and init containers.
  // The pod-level resources: cpu, memory and huge pages. A list is empty if it names none of these.
  ResourceList pod_requests;          // spec.resources
  ResourceList pod_status_requests;   // status.resources.requests
  ResourceList pod_status_allocated;  // status.allocatedResources
  ResourceList overhead;
  bool resize_infeasible = false;  // The condition PodResizePending has the reason Infeasible.
};

// The sums; see the members of berth_pod with the same names.
struct PodRequests {
  const berth_resources* request = &kNoResources;
  const berth_resources* request_of_containers = &kNoResources;
  const berth_resources* accounted = &kNoResources;
  int64_t nonzero_milli_cpu = 0;
  int64_t nonzero_memory = 0;
};

// Computes the requests of a pod as kube-scheduler 1.36 does: component-helpers/resource/helpers.go
// (PodRequests) and pkg/scheduler/framework/types.go (calculateResource).
// Threading: one thread at a time. The calculator keeps its working memory between pods.
class RequestCalculator {
 public:
  PodRequests Calculate(const RequestInputs& pod, Arena& arena);

  // Returns the sum of the container requests, without pod-level resources and overhead.
  // Lifetime: until the next call.
  ResourceList SumContainers(const RequestInputs& pod);

 private:
  // The rules for one sum.
  struct Rules {
    bool use_status = false;
    bool use_pod_level = true;
    // A mask of BERTH_PRESENT_CPU and BERTH_PRESENT_MEMORY. A container without a request for one
    // of them counts with the default amount.
    uint32_t defaults = 0;
  };

  void Sum(const RequestInputs& pod, const Rules& rules, ResourceSum& total);
  void SumContainers(const RequestInputs& pod, const Rules& rules, ResourceSum& total);
  void ApplyPodLevel(const RequestInputs& pod, const Rules& rules, ResourceSum& total);
  ResourceList RequestsOf(const ContainerRequests& container, const RequestInputs& pod,
                          bool use_status);

  ResourceSum request_;
  ResourceSum other_;
  ResourceSum sidecars_;
  ResourceSum phase_;
  ResourceSum init_;
  ResourceSum container_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_REQUESTS_H_
