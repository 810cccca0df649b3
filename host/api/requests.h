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
#include "host/api/quantity.h"

namespace berth::host {

// What a container without a request for it counts as, in scores only
// (pkg/scheduler/util/pod_resources.go).
inline constexpr Quantity kDefaultCpu(0, 100'000'000);
inline constexpr Quantity kDefaultMemory(int64_t{200} * 1024 * 1024, 0);

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

// Names a resource in lists of exact amounts: BERTH_RESOURCE_* or ScalarKey(name).
using ResourceKey = uint64_t;
constexpr ResourceKey ScalarKey(Id name) { return (ResourceKey{1} << 32) | name; }

struct ResourceAmount {
  ResourceKey key = 0;
  Quantity amount;

  friend constexpr bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// Exact amounts, sorted by key, each key once. A name with an amount of 0 is named.
using ResourceList = std::span<const ResourceAmount>;

bool SameAmounts(ResourceList a, ResourceList b);

// The amounts as views have them, each rounded up: cpu to thousandths, all others to units. Lives
// as long as the arena; kNoResources where there is nothing.
const berth_resources* RoundUp(ResourceList amounts, Arena& arena);

// Exact amounts under construction: rounding comes once, when all is summed up, as upstream sums
// resource.Quantity and takes MilliValue() or Value() of what comes out. Amounts are 0 or more and
// saturate at 2^63-1 units.
class ResourceSum {
 public:
  void Clear() { amounts_.clear(); }
  void Assign(ResourceList from) { amounts_.assign(from.begin(), from.end()); }

  void Add(ResourceList other);   // Every name of `other`: the sum.
  void Max(ResourceList other);   // Every name of `other`: the larger.
  void Set(ResourceList other);   // Every name of `other`: its amount.
  void Fill(ResourceList other);  // Every name of `other` that is missing here.
  void Set(ResourceKey key, const Quantity& amount) { Set(One({key, amount})); }
  void Add(ResourceKey key, const Quantity& amount) { Add(One({key, amount})); }

  // Null: not named. Valid until the sum changes or goes away.
  const Quantity* Find(ResourceKey key) const;
  // Valid until the sum changes or goes away.
  ResourceList amounts() const { return amounts_; }
  // A copy that lives as long as the arena.
  ResourceList Copy(Arena& arena) const { return arena.CopyArray(amounts()); }

 private:
  static ResourceList One(const ResourceAmount& amount) { return {&amount, 1}; }
  enum class Merge : uint8_t { kAdd, kMax, kSet, kFill };
  template <Merge kMerge>
  void Apply(ResourceList other);

  std::vector<ResourceAmount> amounts_;  // Sorted by key.
};

// True when both name the same resources with the same amounts.
bool SameResources(const berth_resources& a, const berth_resources& b);

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
