// Amounts of resources by name. They are exact while they are summed, and rounded up in the views.
#ifndef BERTH_HOST_API_RESOURCE_LIST_H_
#define BERTH_HOST_API_RESOURCE_LIST_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/quantity.h"
#include "host/base/arena.h"
#include "host/base/interner.h"

namespace berth::host {

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
  void Clear() { amounts_.clear(); }
  void Assign(ResourceList from) { amounts_.assign(from.begin(), from.end()); }

  void Add(ResourceList other);   // Adds each amount of `other`.
  void Max(ResourceList other);   // Raises each amount to that of `other` if that is larger.
  void Set(ResourceList other);   // Sets each amount of `other`.
  void Fill(ResourceList other);  // Sets each amount of `other` whose name is not in this list.
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

  std::vector<ResourceAmount> amounts_;  // Sorted by key.
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_RESOURCE_LIST_H_
