// What a pod takes: the sums over its containers, worked out once when it is decoded.
#ifndef BERTH_HOST_API_REQUESTS_H_
#define BERTH_HOST_API_REQUESTS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/arena.h"
#include "host/api/interner.h"

namespace berth::host {

// What a container without a request for it counts as, in scores only
// (pkg/scheduler/util/pod_resources.go).
inline constexpr int64_t kDefaultMilliCpu = 100;
inline constexpr int64_t kDefaultMemory = int64_t{200} * 1024 * 1024;

// Nothing at all. Lives for ever.
inline constexpr berth_resources kNoResources = {.struct_size = sizeof(berth_resources),
                                                 .present = 0,
                                                 .milli_cpu = 0,
                                                 .memory = 0,
                                                 .ephemeral_storage = 0,
                                                 .pods = 0,
                                                 .scalars = {nullptr, 0, sizeof(berth_quantity)}};

// What is done with an amount of a resource, by its name.
enum class ResourceClass : uint8_t {
  kCpu,
  kMemory,
  kEphemeralStorage,
  kPods,
  kHugePages,  // A scalar that may also be set for the pod as a whole.
  kScalar,     // Extended resources, attachable-volumes-*, names with kubernetes.io/ in them.
  kIgnored,    // Unknown plain names: no sum has them.
};

// pkg/apis/core/v1/helper/helpers.go: IsScalarResourceName.
ResourceClass ClassifyResource(std::string_view name);

// Amounts under construction. A name that was added or taken with an amount of 0 is present.
// Sums saturate at 2^63-1.
class ResourceSum {
 public:
  void Clear();
  void Assign(const berth_resources& from);

  void Add(const berth_resources& other);   // Every name of `other`: the sum.
  void Max(const berth_resources& other);   // Every name of `other`: the larger.
  void Set(const berth_resources& other);   // Every name of `other`: its amount.
  void Fill(const berth_resources& other);  // Every name of `other` that is missing here.

  // BERTH_RESOURCE_*: one of cpu, memory, ephemeral storage, pods.
  void AddAmount(uint32_t resource, int64_t amount);
  void SetAmount(uint32_t resource, int64_t amount);
  void SetScalar(Id name, int64_t amount);

  // Valid until the sum changes or goes away.
  const berth_resources& view();
  // A copy that lives as long as the arena; kNoResources where there is nothing.
  const berth_resources* Store(Arena& arena);

 private:
  enum class Merge : uint8_t { kAdd, kMax, kSet, kFill };
  template <Merge kMerge>
  void Apply(const berth_resources& other);
  template <Merge kMerge>
  void ApplyMember(const berth_resources& other, uint32_t bit, int64_t berth_resources::*member);
  template <Merge kMerge>
  void ApplyScalar(const berth_quantity& quantity);

  berth_resources sum_ = kNoResources;
  std::vector<berth_quantity> scalars_;  // Sorted by name id.
};

// True when both name the same resources with the same amounts.
bool SameResources(const berth_resources& a, const berth_resources& b);

// What the kubelet reports of a container: status.containerStatuses and initContainerStatuses.
struct ContainerStatus {
  std::string_view name;
  const berth_resources* requests = nullptr;   // resources.requests; null: resources is not set.
  const berth_resources* allocated = nullptr;  // allocatedResources; null: not set.
};

struct RequestInputs {
  std::span<const berth_container> containers;
  std::span<const berth_container> init_containers;
  std::span<const ContainerStatus> statuses;  // Of both.
  // spec.resources: cpu, memory and huge pages. Null: names none of these.
  const berth_resources* pod_requests = nullptr;
  const berth_resources* pod_status_requests =
      nullptr;  // status.resources.requests; null: not set.
  const berth_resources* pod_status_allocated =
      nullptr;  // status.allocatedResources; null: not set.
  const berth_resources* overhead = &kNoResources;
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
  const berth_resources& SumContainers(const RequestInputs& pod);

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
  const berth_resources& RequestsOf(const berth_container& container, const RequestInputs& pod,
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
