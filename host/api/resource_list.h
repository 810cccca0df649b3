// Amounts of resources by name: exact while they are summed up, rounded up in the views.
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

// True when both name the same resources with the same amounts.
bool SameResources(const berth_resources& a, const berth_resources& b);

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

}  // namespace berth::host

#endif  // BERTH_HOST_API_RESOURCE_LIST_H_
