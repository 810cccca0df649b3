// Amounts of resources by name, which are exact while they are summed, and rounded up in the views;
// and the resource requests of a pod, which are sums over its containers. They are computed once,
// when the pod is decoded.
#ifndef BERTH_HOST_API_REQUESTS_H_
#define BERTH_HOST_API_REQUESTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/kube_version.h>

#include "host/api/quantity.h"
#include "host/base/arena.h"
#include "host/base/interner.h"

namespace berth::host {

// ---- Amounts ------------------------------------------------------------------------------------

// The empty set of resources. It is never freed.
inline constexpr berth_resources kNoResources = {.struct_size = sizeof(berth_resources),
                                                 .present = 0,
                                                 .milli_cpu = 0,
                                                 .memory = 0,
                                                 .ephemeral_storage = 0,
                                                 .pods = 0,
                                                 .scalars = {nullptr, 0, sizeof(berth_quantity)}};

// The class of a resource name, which determines how amounts of the resource are stored.
enum class ResourceClass : uint8_t {
  kCpu,
  kMemory,
  kEphemeralStorage,
  kPods,
  kHugePages,  // Scalars that may also be requested at pod level.
  kScalar,     // Extended resources, attachable-volumes-*, and names that contain kubernetes.io/.
  kIgnored,    // Other names, which no sum includes.
};

// Returns the class of a resource name. Kubernetes: IsScalarResourceName in
// pkg/apis/core/v1/helper/helpers.go.
ResourceClass ClassifyResource(std::string_view name);

// Returns whether `a` and `b` name the same resources with the same amounts.
bool SameResources(const berth_resources& a, const berth_resources& b);

// Identifies a resource in lists of exact amounts: BERTH_RESOURCE_* or ScalarKey(name).
using ResourceKey = uint64_t;
constexpr ResourceKey ScalarKey(Id name) { return (ResourceKey{1} << 32) | name; }

struct ResourceAmount {
  ResourceKey key = 0;
  Quantity amount;

  friend constexpr bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// Exact amounts, sorted by key. Each key occurs at most once. A resource may be in the list with an
// amount of 0.
using ResourceList = std::span<const ResourceAmount>;

bool SameAmounts(ResourceList a, ResourceList b);

// Returns the amounts in the form of the views, each rounded up: cpu to thousandths, all others to
// units. Returns kNoResources if `amounts` is empty.
// Lifetime: that of the arena.
const berth_resources* RoundUp(ResourceList amounts, Arena& arena);

// A list of exact amounts that can be changed. Amounts are rounded once, after they are summed, as
// Kubernetes sums resource.Quantity values and takes MilliValue() or Value() of the result. Amounts
// are 0 or more and saturate at 2^63-1 units.
class ResourceSum {
 public:
  // Up to this size, moving the rest of a list costs less than sorting it, or than a second list.
  static constexpr size_t kFewAmounts = 16;

  void Clear() { amounts_.clear(); }
  void Assign(ResourceList from) { amounts_.assign(from.begin(), from.end()); }

  void Add(ResourceList other);   // Adds each amount of `other`.
  void Max(ResourceList other);   // Raises each amount to that of `other` if that is larger.
  void Set(ResourceList other);   // Sets each amount of `other`.
  void Fill(ResourceList other);  // Sets each amount of `other` whose name is not in this list.
  // Adds the amounts of `other` whose names are in this list.
  void AddWhereNamed(const ResourceSum& other);
  // Sets an amount, in a long list without a search for its place. Sort() must follow before any
  // other call but Append().
  void Append(ResourceKey key, const Quantity& amount) {
    if (amounts_.size() < kFewAmounts) return Set(key, amount);
    amounts_.push_back({key, amount});
  }
  // Restores the order after Append(). Of several amounts with one name, the last one counts.
  void Sort();
  void Set(ResourceKey key, const Quantity& amount) { Set(One({key, amount})); }
  void Add(ResourceKey key, const Quantity& amount) { Add(One({key, amount})); }

  // Returns the amount of `key`; null if the list does not contain it.
  // Lifetime: until this object changes or is destroyed.
  const Quantity* Find(ResourceKey key) const;
  // Lifetime: until this object changes or is destroyed.
  ResourceList amounts() const { return amounts_; }
  // Returns a copy in the arena.
  ResourceList Copy(Arena& arena) const { return arena.CopyArray(amounts()); }

 private:
  static ResourceList One(const ResourceAmount& amount) { return {&amount, 1}; }
  enum class Merge : uint8_t { kAdd, kMax, kSet, kFill };
  template <Merge kMerge>
  void Apply(ResourceList other);
  template <Merge kMerge>
  static void Apply(ResourceAmount& ours, const ResourceAmount& theirs);
  // Returns the first place from `at` on whose key is not below `key`.
  size_t PlaceFrom(size_t at, ResourceKey key) const;
  // As Apply(), for the amounts from `at` on, all at once: O(both lists).
  template <Merge kMerge>
  void ApplyFrom(size_t at, ResourceList other);

  std::vector<ResourceAmount> amounts_;  // Sorted by key.
};

// ---- Requests -----------------------------------------------------------------------------------

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
// status.initContainerStatuses. A list that is absent is not the same as an empty list.
struct ContainerStatus {
  std::string_view name;
  bool has_resources = false;             // Whether the field resources is set.
  std::optional<ResourceList> requests;   // resources.requests
  std::optional<ResourceList> allocated;  // allocatedResources
};

// A list of amounts in the status of a pod.
struct PodStatusList {
  ResourceList pod_level;  // cpu, memory and huge pages
  ResourceList others;
};

struct RequestInputs {
  std::span<const ContainerRequests> containers;
  std::span<const ContainerRequests> init_containers;
  // The statuses of containers, then those of init containers.
  std::span<const ContainerStatus> statuses;
  ResourceList pod_requests;              // spec.resources.requests: cpu, memory and huge pages
  bool has_pod_status_resources = false;  // Whether status has the field resources.
  std::optional<PodStatusList> pod_status_requests;   // status.resources.requests
  std::optional<PodStatusList> pod_status_allocated;  // status.allocatedResources
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

// Returns whether a resize counts by the rules since Kubernetes 1.37, which sum first and then take
// the maximum. Kubernetes: PodRequests and AggregateContainerRequests with UseStatusResources in
// component-helpers/resource/helpers.go, changed by pull requests 140047 and 140646.
//
// Until 1.36, the containers are summed once. A container or sidecar whose status has the field
// resources counts, per resource, with the largest of its spec, its resources.requests and its
// allocatedResources. Of several statuses with one name, the last one counts. If status.resources
// exists, each name in the pod-level requests of the spec counts with the largest of the three
// pod-level lists, and as 0 if none has the name. Maxima leave the spec out if the resize is
// infeasible.
//
// Since 1.37, all containers are summed three times: from the spec; from allocatedResources, else
// from the spec; and from resources.requests, else as in the second sum. Of several statuses with
// one name, the first one counts. If the pod's status has both pod-level lists, they take the place
// of the second and third sum. The largest sum counts, per resource. Then, if the spec has
// pod-level requests and status.resources exists, the largest of the three pod-level lists replaces
// each name in them. If the resize is infeasible, neither maximum includes the spec, and a
// container with no list in its status counts as nothing.
constexpr bool CountsResizesBySum(KubeVersion version) { return version >= KubeVersion{1, 37}; }

// Computes the requests of a pod as kube-scheduler does: component-helpers/resource/helpers.go
// (PodRequests) and pkg/scheduler/framework/types.go (CalculateResource). `accounted` also counts
// what statuses report; see CountsResizesBySum().
// Threading: one thread at a time. The calculator keeps its working memory between pods.
class RequestCalculator {
 public:
  explicit RequestCalculator(KubeVersion emulated_version = kNewestKubeVersion)
      : by_sum_(CountsResizesBySum(emulated_version)) {}

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

  // The list that a container counts with.
  enum class Source : uint8_t {
    kSpec,
    kAllocated,  // allocatedResources, else the spec
    kActuated,   // resources.requests, else as kAllocated
    kLargest,    // The maximum of all three, if the container's status has the field resources.
  };

  void Sum(const RequestInputs& pod, const Rules& rules, ResourceSum& total);
  // Sets statuses_.
  void SortStatuses(const RequestInputs& pod);
  // Returns null if the container has no status that counts.
  const ContainerStatus* FindStatus(std::string_view name) const;
  // Returns false if the status counts as the spec does, as that of most running pods.
  bool StatusDiffers(const RequestInputs& pod) const;
  bool StatusDiffers(std::span<const ContainerRequests> containers) const;
  void SumContainers(const RequestInputs& pod, const Rules& rules, ResourceSum& total);
  // Computes the sum from one list of each container.
  void SumSource(const RequestInputs& pod, Source source, uint32_t defaults, ResourceSum& total);
  void ApplyPodLevel(const RequestInputs& pod, const Rules& rules, ResourceSum& total);
  // Lifetime: until the next call.
  ResourceList RequestsOf(const ContainerRequests& container, const RequestInputs& pod,
                          Source source);

  bool by_sum_;
  ResourceSum request_;
  ResourceSum other_;
  ResourceSum source_;
  ResourceSum sidecars_;
  ResourceSum phase_;
  ResourceSum container_;
  // The statuses that count, by name. Valid within Calculate().
  std::vector<const ContainerStatus*> statuses_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_REQUESTS_H_
