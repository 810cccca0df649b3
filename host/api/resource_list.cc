#include "host/api/resource_list.h"

#include <algorithm>

#include "host/api/objects.h"
#include "host/api/selector.h"

namespace berth::host {
namespace {

// Returns whether `name` is an extended resource, as v1helper.IsExtendedResourceName does: the name
// under which a quota refers to the resource, "requests." + `name`, must be a qualified name.
// `slash` is the position of the '/' after the prefix.
bool IsExtendedResource(std::string_view name, size_t slash) {
  constexpr std::string_view kQuotaPrefix = "requests.";
  constexpr size_t kMaxPrefix = 253;
  return !name.starts_with(kQuotaPrefix) && slash + kQuotaPrefix.size() <= kMaxPrefix &&
         IsLabelKey(name);
}

}  // namespace

ResourceClass ClassifyResource(std::string_view name) {
  if (name == "cpu") return ResourceClass::kCpu;
  if (name == "memory") return ResourceClass::kMemory;
  if (name == "ephemeral-storage") return ResourceClass::kEphemeralStorage;
  if (name == "pods") return ResourceClass::kPods;
  if (name.starts_with("hugepages-")) return ResourceClass::kHugePages;
  if (name.starts_with("attachable-volumes-")) return ResourceClass::kScalar;
  if (name.find("kubernetes.io/") != name.npos) return ResourceClass::kScalar;
  const size_t slash = name.find('/');
  if (slash == name.npos) return ResourceClass::kIgnored;
  return IsExtendedResource(name, slash) ? ResourceClass::kScalar : ResourceClass::kIgnored;
}

bool SameResources(const berth_resources& a, const berth_resources& b) {
  if (a.present != b.present || a.milli_cpu != b.milli_cpu || a.memory != b.memory ||
      a.ephemeral_storage != b.ephemeral_storage || a.pods != b.pods) {
    return false;
  }
  const auto left = Elements<berth_quantity>(a.scalars);
  const auto right = Elements<berth_quantity>(b.scalars);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const berth_quantity& x, const berth_quantity& y) {
                      return x.name == y.name && x.value == y.value;
                    });
}

bool SameAmounts(ResourceList a, ResourceList b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

const berth_resources* RoundUp(ResourceList amounts, Arena& arena) {
  if (amounts.empty()) return &kNoResources;
  auto* rounded = arena.New<berth_resources>(kNoResources);
  size_t at = 0;
  for (; at < amounts.size() && amounts[at].key < ScalarKey(kNoId); ++at) {
    const Quantity& amount = amounts[at].amount;
    rounded->present |= static_cast<uint32_t>(amounts[at].key);
    switch (amounts[at].key) {
      case BERTH_PRESENT_CPU: rounded->milli_cpu = amount.MilliValue(); break;
      case BERTH_PRESENT_MEMORY: rounded->memory = amount.Value(); break;
      case BERTH_PRESENT_EPHEMERAL_STORAGE: rounded->ephemeral_storage = amount.Value(); break;
      default: rounded->pods = amount.Value(); break;
    }
  }
  const std::span<berth_quantity> scalars = arena.NewArray<berth_quantity>(amounts.size() - at);
  for (berth_quantity& scalar : scalars) {
    scalar.name = static_cast<Id>(amounts[at].key);
    scalar.value = amounts[at++].amount.Value();
  }
  rounded->scalars = AsArray(std::span<const berth_quantity>(scalars));
  return rounded;
}

template <ResourceSum::Merge kMerge>
void ResourceSum::Apply(ResourceList other) {
  size_t at = 0;
  for (const ResourceAmount& theirs : other) {
    while (at < amounts_.size() && amounts_[at].key < theirs.key) ++at;
    if (at == amounts_.size()) {
      amounts_.push_back(theirs);
    } else if (amounts_[at].key != theirs.key) {
      amounts_.insert(amounts_.begin() + static_cast<ptrdiff_t>(at), theirs);
    } else if (kMerge == Merge::kAdd) {
      amounts_[at].amount.Add(theirs.amount);
    } else if (kMerge == Merge::kMax) {
      amounts_[at].amount = std::max(amounts_[at].amount, theirs.amount);
    } else if (kMerge == Merge::kSet) {
      amounts_[at].amount = theirs.amount;
    }
    ++at;
  }
}

void ResourceSum::Add(ResourceList other) { Apply<Merge::kAdd>(other); }
void ResourceSum::Max(ResourceList other) { Apply<Merge::kMax>(other); }
void ResourceSum::Set(ResourceList other) { Apply<Merge::kSet>(other); }
void ResourceSum::Fill(ResourceList other) { Apply<Merge::kFill>(other); }

const Quantity* ResourceSum::Find(ResourceKey key) const {
  const auto found = std::ranges::lower_bound(amounts_, key, {}, &ResourceAmount::key);
  return found != amounts_.end() && found->key == key ? &found->amount : nullptr;
}

}  // namespace berth::host
