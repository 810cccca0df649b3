#include "host/api/requests.h"

#include <algorithm>
#include <limits>

#include "host/api/objects.h"
#include "host/api/selector.h"

namespace berth::host {
namespace {

constexpr uint32_t kMissing = BERTH_RESOURCE_CPU | BERTH_RESOURCE_MEMORY;

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// v1helper.IsExtendedResourceName: "requests." and the name, which is what a quota calls it, must
// be a qualified name. `slash` is where the prefix ends.
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

// ---- ResourceSum ------------------------------------------------------------------------------

void ResourceSum::Clear() {
  sum_ = kNoResources;
  scalars_.clear();
}

void ResourceSum::Assign(const berth_resources& from) {
  sum_ = from;
  const auto scalars = Elements<berth_quantity>(from.scalars);
  scalars_.assign(scalars.begin(), scalars.end());
}

template <ResourceSum::Merge kMerge>
void ResourceSum::ApplyMember(const berth_resources& other, uint32_t bit,
                              int64_t berth_resources::*member) {
  if ((other.present & bit) == 0) return;
  const bool is_new = (sum_.present & bit) == 0;
  sum_.present |= bit;
  int64_t& mine = sum_.*member;
  if (is_new || kMerge == Merge::kSet) {
    mine = other.*member;
  } else if (kMerge == Merge::kAdd) {
    mine = SaturatingAdd(mine, other.*member);
  } else if (kMerge == Merge::kMax) {
    mine = std::max(mine, other.*member);
  }
}

template <ResourceSum::Merge kMerge>
void ResourceSum::ApplyScalar(const berth_quantity& quantity) {
  const auto at =
      std::lower_bound(scalars_.begin(), scalars_.end(), quantity.name,
                       [](const berth_quantity& q, berth_id name) { return q.name < name; });
  if (at == scalars_.end() || at->name != quantity.name) {
    scalars_.insert(at, quantity);
  } else if (kMerge == Merge::kAdd) {
    at->value = SaturatingAdd(at->value, quantity.value);
  } else if (kMerge == Merge::kMax) {
    at->value = std::max(at->value, quantity.value);
  } else if (kMerge == Merge::kSet) {
    at->value = quantity.value;
  }
}

template <ResourceSum::Merge kMerge>
void ResourceSum::Apply(const berth_resources& other) {
  ApplyMember<kMerge>(other, BERTH_RESOURCE_CPU, &berth_resources::milli_cpu);
  ApplyMember<kMerge>(other, BERTH_RESOURCE_MEMORY, &berth_resources::memory);
  ApplyMember<kMerge>(other, BERTH_RESOURCE_EPHEMERAL_STORAGE, &berth_resources::ephemeral_storage);
  ApplyMember<kMerge>(other, BERTH_RESOURCE_PODS, &berth_resources::pods);
  for (const berth_quantity& quantity : Elements<berth_quantity>(other.scalars)) {
    ApplyScalar<kMerge>(quantity);
  }
}

void ResourceSum::Add(const berth_resources& other) { Apply<Merge::kAdd>(other); }
void ResourceSum::Max(const berth_resources& other) { Apply<Merge::kMax>(other); }
void ResourceSum::Set(const berth_resources& other) { Apply<Merge::kSet>(other); }
void ResourceSum::Fill(const berth_resources& other) { Apply<Merge::kFill>(other); }

namespace {

int64_t& MemberOf(berth_resources& resources, uint32_t resource) {
  switch (resource) {
    case BERTH_RESOURCE_CPU: return resources.milli_cpu;
    case BERTH_RESOURCE_MEMORY: return resources.memory;
    case BERTH_RESOURCE_EPHEMERAL_STORAGE: return resources.ephemeral_storage;
    default: break;
  }
  BERTH_ASSERT(resource == BERTH_RESOURCE_PODS);
  return resources.pods;
}

}  // namespace

void ResourceSum::AddAmount(uint32_t resource, int64_t amount) {
  int64_t& member = MemberOf(sum_, resource);
  member = SaturatingAdd(member, amount);
  sum_.present |= resource;
}

void ResourceSum::SetAmount(uint32_t resource, int64_t amount) {
  MemberOf(sum_, resource) = amount;
  sum_.present |= resource;
}

void ResourceSum::SetScalar(Id name, int64_t amount) {
  ApplyScalar<Merge::kSet>({.name = name, .reserved = 0, .value = amount});
}

const berth_resources& ResourceSum::view() {
  sum_.scalars = AsArray(std::span(scalars_));
  return sum_;
}

const berth_resources* ResourceSum::Store(Arena& arena) {
  if (sum_.present == 0 && scalars_.empty()) return &kNoResources;
  auto* copy = arena.New<berth_resources>(sum_);
  copy->scalars = AsArray(arena.CopyArray(std::span<const berth_quantity>(scalars_)));
  return copy;
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

// ---- RequestCalculator ------------------------------------------------------------------------

const berth_resources& RequestCalculator::RequestsOf(const berth_container& container,
                                                     const RequestInputs& pod, bool use_status) {
  if (!use_status) return *container.requests;
  const std::string_view name = Text(container.name);
  for (const ContainerStatus& status : pod.statuses) {
    if (status.name != name) continue;
    if (status.requests == nullptr) break;
    if (pod.resize_infeasible) {
      container_.Clear();
    } else {
      container_.Assign(*container.requests);
    }
    container_.Max(*status.requests);
    if (status.allocated != nullptr) container_.Max(*status.allocated);
    return container_.view();
  }
  return *container.requests;
}

void RequestCalculator::SumContainers(const RequestInputs& pod, const Rules& rules,
                                      ResourceSum& total) {
  const auto add_to = [&rules](ResourceSum& sum, const berth_resources& requests) {
    sum.Add(requests);
    const uint32_t missing = rules.defaults & ~requests.present;
    if (missing & BERTH_RESOURCE_CPU) sum.AddAmount(BERTH_RESOURCE_CPU, kDefaultMilliCpu);
    if (missing & BERTH_RESOURCE_MEMORY) sum.AddAmount(BERTH_RESOURCE_MEMORY, kDefaultMemory);
  };

  total.Clear();
  for (const berth_container& container : pod.containers) {
    add_to(total, RequestsOf(container, pod, rules.use_status));
  }
  if (pod.init_containers.empty()) return;

  // While init container i runs, so do the sidecars before it; a sidecar runs on to the end.
  sidecars_.Clear();
  init_.Clear();
  for (const berth_container& container : pod.init_containers) {
    if ((container.flags & BERTH_CONTAINER_SIDECAR) != 0) {
      const berth_resources& requests = RequestsOf(container, pod, rules.use_status);
      add_to(total, requests);
      add_to(sidecars_, requests);
      init_.Max(sidecars_.view());
    } else {
      phase_.Assign(sidecars_.view());
      add_to(phase_, *container.requests);
      init_.Max(phase_.view());
    }
  }
  total.Max(init_.view());
}

void RequestCalculator::ApplyPodLevel(const RequestInputs& pod, const Rules& rules,
                                      ResourceSum& total) {
  if (!rules.use_pod_level || pod.pod_requests == nullptr) return;
  if (!rules.use_status ||
      (pod.pod_status_requests == nullptr && pod.pod_status_allocated == nullptr)) {
    total.Set(*pod.pod_requests);
    return;
  }
  if (pod.resize_infeasible) {
    container_.Clear();
  } else {
    container_.Assign(*pod.pod_requests);
  }
  if (pod.pod_status_requests != nullptr) container_.Max(*pod.pod_status_requests);
  if (pod.pod_status_allocated != nullptr) container_.Max(*pod.pod_status_allocated);
  total.Set(container_.view());
}

void RequestCalculator::Sum(const RequestInputs& pod, const Rules& rules, ResourceSum& total) {
  SumContainers(pod, rules, total);
  ApplyPodLevel(pod, rules, total);
  total.Add(*pod.overhead);
}

const berth_resources& RequestCalculator::SumContainers(const RequestInputs& pod) {
  SumContainers(pod, Rules(), request_);
  return request_.view();
}

PodRequests RequestCalculator::Calculate(const RequestInputs& pod, Arena& arena) {
  PodRequests result;
  Sum(pod, {}, request_);
  result.request = request_.Store(arena);

  // Most pods come out the same each time, and then share one copy.
  const auto store = [&](ResourceSum& sum) {
    return SameResources(sum.view(), *result.request) ? result.request : sum.Store(arena);
  };
  Sum(pod, {.use_pod_level = false, .defaults = kMissing}, other_);
  result.request_of_containers = store(other_);

  Sum(pod, {.use_status = true}, other_);
  result.accounted = store(other_);

  uint32_t defaults = kMissing;
  if (pod.pod_requests != nullptr) defaults &= ~result.accounted->present;
  if (defaults != 0) Sum(pod, {.use_status = true, .defaults = defaults}, other_);
  result.nonzero_milli_cpu = other_.view().milli_cpu;
  result.nonzero_memory = other_.view().memory;
  return result;
}

}  // namespace berth::host
