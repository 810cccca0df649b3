#include <algorithm>
#include <cstdint>
#include <string_view>

#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/requests.h>
#include <berth/testing/spec.h>

namespace berth::testing {
namespace internal {

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.substr(0, 10) == "hugepages-";
}

}  // namespace internal

namespace {

void Add(const Amounts& from, Amounts* to) {
  for (const auto& [name, value] : from) {
    int64_t& sum = (*to)[name];
    sum = internal::AddAmounts(sum, value);
  }
}

void Max(const Amounts& from, Amounts* to) {
  for (const auto& [name, value] : from) {
    const auto [at, fresh] = to->emplace(name, value);
    if (!fresh) at->second = std::max(at->second, value);
  }
}

// `allocated`: the size that the kubelet has allocated counts, where there is one.
Amounts ContainerRequest(const ContainerSpec& container, bool allocated,
                         const RequestOptions& options) {
  const bool has_size = allocated && !container.allocated.empty();
  Amounts request = has_size ? container.allocated : container.requests;
  if (options.default_cpu) request.emplace("cpu", kDefaultMilliCpu);
  if (options.default_memory) request.emplace("memory", kDefaultMemory);
  return request;
}

Amounts SumOfContainers(const PodSpec& pod, bool allocated, const RequestOptions& options) {
  Amounts total;
  for (const ContainerSpec& container : pod.containers) {
    Add(ContainerRequest(container, allocated, options), &total);
  }
  Amounts sidecars;  // the sidecars that have been started so far
  Amounts init;      // the maximum over all steps of the initialisation
  for (const ContainerSpec& container : pod.init_containers) {
    Amounts step = ContainerRequest(container, allocated, options);
    if (container.sidecar) {
      Add(step, &total);
      Add(step, &sidecars);
      step = sidecars;
    } else {
      Add(sidecars, &step);
    }
    Max(step, &init);
  }
  Max(init, &total);
  return total;
}

}  // namespace

bool HasPodLevelRequests(const PodSpec& pod) {
  return std::any_of(pod.pod_requests.begin(), pod.pod_requests.end(),
                     [](const auto& entry) { return internal::IsPodLevelResource(entry.first); });
}

Amounts PodRequest(const PodSpec& pod, const RequestOptions& options) {
  Amounts total = SumOfContainers(pod, false, options);
  if (options.allocated) Max(SumOfContainers(pod, true, options), &total);
  if (options.pod_level) {
    for (const auto& [name, value] : pod.pod_requests) {
      if (internal::IsPodLevelResource(name)) total[name] = value;
    }
  }
  Add(pod.overhead, &total);
  return total;
}

Amounts NonzeroRequest(const PodSpec& pod) {
  RequestOptions options{.allocated = true};
  const Amounts plain = PodRequest(pod, options);
  const bool pod_level = HasPodLevelRequests(pod);
  options.default_cpu = !pod_level || plain.count("cpu") == 0;
  options.default_memory = !pod_level || plain.count("memory") == 0;
  return PodRequest(pod, options);
}

}  // namespace berth::testing
