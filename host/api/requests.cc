#include "host/api/requests.h"

namespace berth::host {
namespace {

constexpr uint32_t kDefaultedResources = BERTH_PRESENT_CPU | BERTH_PRESENT_MEMORY;

}  // namespace

ResourceList RequestCalculator::RequestsOf(const ContainerRequests& container,
                                           const RequestInputs& pod, bool use_status) {
  if (!use_status) return container.requests;
  for (const ContainerStatus& status : pod.statuses) {
    if (status.name != container.name) continue;
    if (!status.has_resources) break;
    container_.Assign(pod.resize_infeasible ? ResourceList() : container.requests);
    container_.Max(status.requests);
    container_.Max(status.allocated);
    return container_.amounts();
  }
  return container.requests;
}

void RequestCalculator::SumContainers(const RequestInputs& pod, const Rules& rules,
                                      ResourceSum& total) {
  const auto add_to = [&rules](ResourceSum& sum, ResourceList requests) {
    sum.Add(requests);
    uint32_t missing = rules.defaults;
    for (const ResourceAmount& named : requests) {
      if (named.key > BERTH_PRESENT_MEMORY) break;
      missing &= ~static_cast<uint32_t>(named.key);
    }
    if (missing & BERTH_PRESENT_CPU) sum.Add(BERTH_PRESENT_CPU, kDefaultCpu);
    if (missing & BERTH_PRESENT_MEMORY) sum.Add(BERTH_PRESENT_MEMORY, kDefaultMemory);
  };

  total.Clear();
  for (const ContainerRequests& container : pod.containers) {
    add_to(total, RequestsOf(container, pod, rules.use_status));
  }
  if (pod.init_containers.empty()) return;

  // While an init container runs, the sidecars before it run as well. A sidecar runs until the pod
  // ends.
  sidecars_.Clear();
  init_.Clear();
  for (const ContainerRequests& container : pod.init_containers) {
    if (container.sidecar) {
      const ResourceList requests = RequestsOf(container, pod, rules.use_status);
      add_to(total, requests);
      add_to(sidecars_, requests);
      init_.Max(sidecars_.amounts());
    } else {
      phase_.Assign(sidecars_.amounts());
      add_to(phase_, container.requests);
      init_.Max(phase_.amounts());
    }
  }
  total.Max(init_.amounts());
}

void RequestCalculator::ApplyPodLevel(const RequestInputs& pod, const Rules& rules,
                                      ResourceSum& total) {
  if (!rules.use_pod_level || pod.pod_requests.empty()) return;
  if (!rules.use_status || (pod.pod_status_requests.empty() && pod.pod_status_allocated.empty())) {
    total.Set(pod.pod_requests);
    return;
  }
  container_.Assign(pod.resize_infeasible ? ResourceList() : pod.pod_requests);
  container_.Max(pod.pod_status_requests);
  container_.Max(pod.pod_status_allocated);
  total.Set(container_.amounts());
}

void RequestCalculator::Sum(const RequestInputs& pod, const Rules& rules, ResourceSum& total) {
  SumContainers(pod, rules, total);
  ApplyPodLevel(pod, rules, total);
  total.Add(pod.overhead);
}

ResourceList RequestCalculator::SumContainers(const RequestInputs& pod) {
  SumContainers(pod, Rules(), request_);
  return request_.amounts();
}

PodRequests RequestCalculator::Calculate(const RequestInputs& pod, Arena& arena) {
  PodRequests result;
  Sum(pod, {}, request_);
  result.request = RoundUp(request_.amounts(), arena);

  // For most pods the sums below are equal, so equal sums share one copy.
  const auto round_up = [&](const ResourceSum& sum) {
    return SameAmounts(sum.amounts(), request_.amounts()) ? result.request
                                                          : RoundUp(sum.amounts(), arena);
  };
  Sum(pod, {.use_pod_level = false, .defaults = kDefaultedResources}, other_);
  result.request_of_containers = round_up(other_);

  Sum(pod, {.use_status = true}, other_);
  result.accounted = round_up(other_);

  uint32_t defaults = kDefaultedResources;
  if (!pod.pod_requests.empty()) defaults &= ~result.accounted->present;
  if (defaults != 0) Sum(pod, {.use_status = true, .defaults = defaults}, other_);
  if (const Quantity* cpu = other_.Find(BERTH_PRESENT_CPU)) {
    result.nonzero_milli_cpu = cpu->MilliValue();
  }
  if (const Quantity* memory = other_.Find(BERTH_PRESENT_MEMORY)) {
    result.nonzero_memory = memory->Value();
  }
  return result;
}

}  // namespace berth::host
