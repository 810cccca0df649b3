// What a pod takes: the sums over its containers, worked out once when it is decoded.
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

// What a container without a request for it counts as, in scores only
// (pkg/scheduler/util/pod_resources.go).
inline constexpr Quantity kDefaultCpu(0, 100'000'000);
inline constexpr Quantity kDefaultMemory(int64_t{200} * 1024 * 1024, 0);

// What the spec says of a container.
struct ContainerRequests {
  std::string_view name;
  bool sidecar = false;
  ResourceList requests;
};

// What the kubelet reports of a container: status.containerStatuses and initContainerStatuses.
struct ContainerStatus {
  std::string_view name;
  bool has_resources = false;  // resources is set.
  ResourceList requests;       // resources.requests
  ResourceList allocated;      // allocatedResources
};

struct RequestInputs {
  std::span<const ContainerRequests> containers;
  std::span<const ContainerRequests> init_containers;
  std::span<const ContainerStatus> statuses;  // Of both.
  // Of the pod as a whole: cpu, memory and huge pages. Empty: names none of these.
  ResourceList pod_requests;          // spec.resources
  ResourceList pod_status_requests;   // status.resources.requests
  ResourceList pod_status_allocated;  // status.allocatedResources
  ResourceList overhead;
  bool resize_infeasible = false;  // Condition PodResizePending has the reason Infeasible.
};

// See the members of berth_pod of the same names.
struct PodRequests {
  const berth_resources* request = &kNoResources;
  const berth_resources* request_of_containers = &kNoResources;
  const berth_resources* accounted = &kNoResources;
  int64_t nonzero_milli_cpu = 0;
  int64_t nonzero_memory = 0;
};

// kube-scheduler 1.36: component-helpers/resource/helpers.go (PodRequests) and
// pkg/scheduler/framework/types.go (calculateResource).
// Threading: one thread at a time; keeps its working memory from pod to pod.
class RequestCalculator {
 public:
  PodRequests Calculate(const RequestInputs& pod, Arena& arena);

  // What the containers request together, without pod-level resources and overhead. Valid until
  // the next call.
  ResourceList SumContainers(const RequestInputs& pod);

 private:
  // How a sum is to be made.
  struct Rules {
    bool use_status = false;
    bool use_pod_level = true;
    uint32_t defaults = 0;  // BERTH_RESOURCE_CPU, _MEMORY: counted for containers without.
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
