#include "host/api/requests.h"

#include <algorithm>

#include <berth/names.h>

#include "host/api/objects.h"

namespace berth::host {
namespace {

constexpr uint32_t kDefaultedResources = BERTH_PRESENT_CPU | BERTH_PRESENT_MEMORY;

// Returns whether `name` is an extended resource, as v1helper.IsExtendedResourceName does: the name
// under which a quota refers to the resource, "requests." + `name`, must be a qualified name.
// `slash` is the position of the '/' after the prefix.
bool IsExtendedResource(std::string_view name, size_t slash) {
  constexpr std::string_view kQuotaPrefix = "requests.";
  constexpr size_t kMaxPrefix = 253;
  return !name.starts_with(kQuotaPrefix) && slash + kQuotaPrefix.size() <= kMaxPrefix &&
         IsQualifiedName(name);
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

void ResourceSum::Sort() {
  if (amounts_.size() <= kFewAmounts) return;
  std::ranges::stable_sort(amounts_, {}, &ResourceAmount::key);
  size_t kept = 0;
  for (size_t i = 0; i < amounts_.size(); ++i) {
    if (i + 1 < amounts_.size() && amounts_[i].key == amounts_[i + 1].key) continue;
    amounts_[kept++] = amounts_[i];
  }
  amounts_.resize(kept);
}

template <ResourceSum::Merge kMerge>
void ResourceSum::Apply(ResourceAmount& ours, const ResourceAmount& theirs) {
  if (kMerge == Merge::kAdd) {
    ours.amount.Add(theirs.amount);
  } else if (kMerge == Merge::kMax) {
    ours.amount = std::max(ours.amount, theirs.amount);
  } else if (kMerge == Merge::kSet) {
    ours.amount = theirs.amount;
  }
}

size_t ResourceSum::PlaceFrom(size_t at, ResourceKey key) const {
  if (amounts_.size() > kFewAmounts) {
    const auto begin = amounts_.begin() + static_cast<ptrdiff_t>(at);
    return static_cast<size_t>(
        std::ranges::lower_bound(begin, amounts_.end(), key, {}, &ResourceAmount::key) -
        amounts_.begin());
  }
  while (at < amounts_.size() && amounts_[at].key < key) ++at;
  return at;
}

template <ResourceSum::Merge kMerge>
void ResourceSum::Apply(ResourceList other) {
  if (other.empty()) return;
  size_t at = 0;
  for (size_t i = 0; i < other.size(); ++i, ++at) {
    at = PlaceFrom(at, other[i].key);
    if (at == amounts_.size()) {
      amounts_.push_back(other[i]);
    } else if (amounts_[at].key == other[i].key) {
      Apply<kMerge>(amounts_[at], other[i]);
    } else if (amounts_.size() <= kFewAmounts) {
      amounts_.insert(amounts_.begin() + static_cast<ptrdiff_t>(at), other[i]);
    } else {
      return ApplyFrom<kMerge>(at, other.subspan(i));
    }
  }
}

template <ResourceSum::Merge kMerge>
void ResourceSum::ApplyFrom(size_t at, ResourceList other) {
  const std::vector<ResourceAmount> rest(amounts_.begin() + static_cast<ptrdiff_t>(at),
                                         amounts_.end());
  amounts_.resize(at);
  size_t next = 0;
  for (const ResourceAmount& theirs : other) {
    while (next < rest.size() && rest[next].key < theirs.key) amounts_.push_back(rest[next++]);
    if (next == rest.size() || rest[next].key != theirs.key) {
      amounts_.push_back(theirs);
    } else {
      Apply<kMerge>(amounts_.emplace_back(rest[next++]), theirs);
    }
  }
  amounts_.insert(amounts_.end(), rest.begin() + static_cast<ptrdiff_t>(next), rest.end());
}

void ResourceSum::Add(ResourceList other) { Apply<Merge::kAdd>(other); }
void ResourceSum::Max(ResourceList other) { Apply<Merge::kMax>(other); }
void ResourceSum::Set(ResourceList other) { Apply<Merge::kSet>(other); }
void ResourceSum::Fill(ResourceList other) { Apply<Merge::kFill>(other); }

void ResourceSum::AddWhereNamed(const ResourceSum& other) {
  for (ResourceAmount& ours : amounts_) {
    if (const Quantity* theirs = other.Find(ours.key)) ours.amount.Add(*theirs);
  }
}

const Quantity* ResourceSum::Find(ResourceKey key) const {
  const auto found = std::ranges::lower_bound(amounts_, key, {}, &ResourceAmount::key);
  return found != amounts_.end() && found->key == key ? &found->amount : nullptr;
}

// ---- Requests -----------------------------------------------------------------------------------

namespace {

// Adds the names of all requests of many containers with the amount 0, so that no container inserts
// one into the middle of a long list.
template <class RequestsOf>
void AppendNames(std::span<const ContainerRequests> containers, const RequestsOf& requests_of,
                 ResourceSum& sum) {
  if (containers.size() <= ResourceSum::kFewAmounts) return;
  for (const ContainerRequests& container : containers) {
    for (const ResourceAmount& amount : requests_of(container)) sum.Append(amount.key, Quantity());
  }
  sum.Sort();
}

// Adds the requests of a container. `defaults` is a mask of BERTH_PRESENT_CPU and
// BERTH_PRESENT_MEMORY: the default amounts are added for those that `requests` does not name.
void AddContainer(ResourceList requests, uint32_t defaults, ResourceSum& sum) {
  sum.Add(requests);
  for (const ResourceAmount& named : requests) {
    if (named.key > BERTH_PRESENT_MEMORY) break;
    defaults &= ~static_cast<uint32_t>(named.key);
  }
  if (defaults & BERTH_PRESENT_CPU) sum.Add(BERTH_PRESENT_CPU, kDefaultCpu);
  if (defaults & BERTH_PRESENT_MEMORY) sum.Add(BERTH_PRESENT_MEMORY, kDefaultMemory);
}

}  // namespace

void RequestCalculator::SortStatuses(const RequestInputs& pod) {
  statuses_.clear();
  for (const ContainerStatus& status : pod.statuses) statuses_.push_back(&status);
  // Elements of one array: equal names keep their order, and no memory is allocated for it.
  std::ranges::sort(statuses_, [](const ContainerStatus* a, const ContainerStatus* b) {
    return a->name != b->name ? a->name < b->name : a < b;
  });
  size_t kept = 0;
  for (size_t begin = 0, end = 0; begin < statuses_.size(); begin = end) {
    while (end < statuses_.size() && statuses_[end]->name == statuses_[begin]->name) ++end;
    const ContainerStatus* status = statuses_[by_sum_ ? begin : end - 1];
    const bool has_list = status->requests.has_value() || status->allocated.has_value();
    if (by_sum_ ? has_list : status->has_resources) statuses_[kept++] = status;
  }
  statuses_.resize(kept);
}

const ContainerStatus* RequestCalculator::FindStatus(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      statuses_, name, {}, [](const ContainerStatus* known) { return known->name; });
  return found != statuses_.end() && (*found)->name == name ? *found : nullptr;
}

bool RequestCalculator::StatusDiffers(const RequestInputs& pod) const {
  if (pod.resize_infeasible || pod.has_pod_status_resources) return true;
  return !statuses_.empty() &&
         (StatusDiffers(pod.containers) || StatusDiffers(pod.init_containers));
}

bool RequestCalculator::StatusDiffers(std::span<const ContainerRequests> containers) const {
  return std::ranges::any_of(containers, [this](const ContainerRequests& container) {
    const ContainerStatus* status = FindStatus(container.name);
    if (status == nullptr) return false;
    return !SameAmounts(status->requests.value_or(container.requests), container.requests) ||
           !SameAmounts(status->allocated.value_or(container.requests), container.requests);
  });
}

ResourceList RequestCalculator::RequestsOf(const ContainerRequests& container,
                                           const RequestInputs& pod, Source source) {
  if (source == Source::kSpec) return container.requests;
  const ContainerStatus* status = FindStatus(container.name);
  const ResourceList spec = pod.resize_infeasible ? ResourceList() : container.requests;
  if (source != Source::kLargest) {
    if (status == nullptr) return spec;
    if (source == Source::kActuated && status->requests) return *status->requests;
    return status->allocated.value_or(spec);
  }
  if (status == nullptr) return container.requests;
  container_.Assign(spec);
  container_.Max(status->requests.value_or(ResourceList()));
  container_.Max(status->allocated.value_or(ResourceList()));
  return container_.amounts();
}

void RequestCalculator::SumSource(const RequestInputs& pod, Source source, uint32_t defaults,
                                  ResourceSum& total) {
  const auto of = [&](const ContainerRequests& container) {
    return RequestsOf(container, pod, source);
  };
  // With kLargest, the status of an ordinary init container does not count.
  const auto of_init = [&](const ContainerRequests& container) {
    const bool ignores_status = source == Source::kLargest && !container.sidecar;
    return RequestsOf(container, pod, ignores_status ? Source::kSpec : source);
  };

  total.Clear();
  sidecars_.Clear();
  AppendNames(pod.containers, of, total);
  AppendNames(pod.init_containers, of_init, total);
  AppendNames(pod.init_containers, of_init, sidecars_);
  for (const ContainerRequests& container : pod.containers) {
    AddContainer(of(container), defaults, total);
  }
  for (const ContainerRequests& container : pod.init_containers) {
    if (container.sidecar) AddContainer(of_init(container), defaults, total);
  }
  // While an init container runs, the sidecars before it run as well. Their requests for resources
  // that it does not request are a part of the total already: a sidecar runs until the pod ends.
  for (const ContainerRequests& container : pod.init_containers) {
    if (container.sidecar) {
      AddContainer(of_init(container), defaults, sidecars_);
      continue;
    }
    phase_.Clear();
    AddContainer(of_init(container), defaults, phase_);
    phase_.AddWhereNamed(sidecars_);
    total.Max(phase_.amounts());
  }
}

void RequestCalculator::SumContainers(const RequestInputs& pod, const Rules& rules,
                                      ResourceSum& total) {
  const uint32_t defaults = rules.defaults;
  if (!rules.use_status) return SumSource(pod, Source::kSpec, defaults, total);
  if (!by_sum_) return SumSource(pod, Source::kLargest, defaults, total);

  total.Clear();
  if (!pod.resize_infeasible) SumSource(pod, Source::kSpec, defaults, total);
  if (pod.pod_status_allocated && pod.pod_status_requests) {
    for (const auto* list : {&*pod.pod_status_allocated, &*pod.pod_status_requests}) {
      total.Max(list->pod_level);
      total.Max(list->others);
    }
    return;
  }
  for (const Source source : {Source::kAllocated, Source::kActuated}) {
    SumSource(pod, source, defaults, source_);
    total.Max(source_.amounts());
  }
}

void RequestCalculator::ApplyPodLevel(const RequestInputs& pod, const Rules& rules,
                                      ResourceSum& total) {
  if (!rules.use_pod_level || pod.pod_requests.empty()) return;
  if (!rules.use_status || !pod.has_pod_status_resources) {
    total.Set(pod.pod_requests);
    return;
  }
  container_.Assign(pod.resize_infeasible ? ResourceList() : pod.pod_requests);
  for (const auto* list : {&pod.pod_status_requests, &pod.pod_status_allocated}) {
    if (list->has_value()) container_.Max((*list)->pod_level);
  }
  if (by_sum_) return total.Set(container_.amounts());
  for (const ResourceAmount& requested : pod.pod_requests) {
    const Quantity* effective = container_.Find(requested.key);
    total.Set(requested.key, effective != nullptr ? *effective : Quantity());
  }
}

void RequestCalculator::Sum(const RequestInputs& pod, const Rules& rules, ResourceSum& total) {
  SumContainers(pod, rules, total);
  ApplyPodLevel(pod, rules, total);
  total.Add(pod.overhead);
}

ResourceList RequestCalculator::SumContainers(const RequestInputs& pod) {
  SumSource(pod, Source::kSpec, 0, request_);
  return request_.amounts();
}

PodRequests RequestCalculator::Calculate(const RequestInputs& pod, Arena& arena) {
  PodRequests result;
  SortStatuses(pod);
  Sum(pod, {}, request_);
  result.request = RoundUp(request_.amounts(), arena);
  result.accounted = result.request;

  // For most pods the sums below are equal, so equal sums share one copy.
  const auto round_up = [&](const ResourceSum& sum) {
    return SameAmounts(sum.amounts(), request_.amounts()) ? result.request
                                                          : RoundUp(sum.amounts(), arena);
  };
  Sum(pod, {.use_pod_level = false, .defaults = kDefaultedResources}, other_);
  result.request_of_containers = round_up(other_);

  // For other pods, `accounted` is `request`, and the last sum is already the one with defaults.
  const bool use_status = StatusDiffers(pod);
  if (use_status || !pod.pod_requests.empty()) {
    Sum(pod, {.use_status = use_status}, other_);
    result.accounted = round_up(other_);
    uint32_t defaults = kDefaultedResources;
    if (!pod.pod_requests.empty()) defaults &= ~result.accounted->present;
    if (defaults != 0) Sum(pod, {.use_status = use_status, .defaults = defaults}, other_);
  }
  if (const Quantity* cpu = other_.Find(BERTH_PRESENT_CPU)) {
    result.nonzero_milli_cpu = cpu->MilliValue();
  }
  if (const Quantity* memory = other_.Find(BERTH_PRESENT_MEMORY)) {
    result.nonzero_memory = memory->Value();
  }
  return result;
}

}  // namespace berth::host
