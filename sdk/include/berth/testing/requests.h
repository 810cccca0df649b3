// Computes what a pod requests (component-helpers: resource/helpers.go, PodRequests).
#ifndef BERTH_TESTING_REQUESTS_H_
#define BERTH_TESTING_REQUESTS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <berth/testing/pod_spec.h>

namespace berth::testing {

// The amounts that a container without a request counts with in scores
// (pkg/scheduler/util/pod_resources.go).
inline constexpr int64_t kDefaultMilliCpu = 100;
inline constexpr int64_t kDefaultMemory = int64_t{200} << 20;

struct RequestOptions {
  bool default_cpu = false;     // containers without a cpu request count as kDefaultMilliCpu
  bool default_memory = false;  // containers without a memory request count as kDefaultMemory
  bool pod_level = true;        // spec.resources overrides cpu, memory and huge pages
  bool allocated = false;       // a resize in progress counts with its larger size
};

namespace internal {

inline void Add(const Amounts& from, Amounts* to) {
  for (const auto& [name, value] : from) {
    int64_t& sum = (*to)[name];
    sum = AddAmounts(sum, value);
  }
}

inline void Max(const Amounts& from, Amounts* to) {
  for (const auto& [name, value] : from) {
    const auto [at, fresh] = to->emplace(name, value);
    if (!fresh) at->second = std::max(at->second, value);
  }
}

inline Amounts ContainerRequest(const ContainerSpec& container, const RequestOptions& options) {
  Amounts request = container.requests;
  if (options.allocated) Max(container.allocated, &request);
  if (options.default_cpu) request.emplace("cpu", kDefaultMilliCpu);
  if (options.default_memory) request.emplace("memory", kDefaultMemory);
  return request;
}

inline bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.substr(0, 10) == "hugepages-";
}

}  // namespace internal

inline bool HasPodLevelRequests(const PodSpec& pod) {
  return std::any_of(pod.pod_requests.begin(), pod.pod_requests.end(),
                     [](const auto& entry) { return internal::IsPodLevelResource(entry.first); });
}

inline Amounts PodRequest(const PodSpec& pod, const RequestOptions& options) {
  Amounts total;
  for (const ContainerSpec& container : pod.containers) {
    internal::Add(internal::ContainerRequest(container, options), &total);
  }
  Amounts sidecars;  // the sidecars that have been started so far
  Amounts init;      // the maximum over all steps of the initialisation
  for (const ContainerSpec& container : pod.init_containers) {
    Amounts step = internal::ContainerRequest(container, options);
    if (container.sidecar) {
      internal::Add(step, &total);
      internal::Add(step, &sidecars);
      step = sidecars;
    } else {
      internal::Add(sidecars, &step);
    }
    internal::Max(step, &init);
  }
  internal::Max(init, &total);
  if (options.pod_level) {
    for (const auto& [name, value] : pod.pod_requests) {
      if (internal::IsPodLevelResource(name)) total[name] = value;
    }
  }
  internal::Add(pod.overhead, &total);
  return total;
}

// Returns the request with defaults, as in berth_pod.nonzero_*. With pod-level requests, a default
// counts only if neither the pod nor any container names the resource
// (pkg/scheduler/framework/types.go, getNonMissingContainerRequests).
inline Amounts NonzeroRequest(const PodSpec& pod) {
  RequestOptions options{.allocated = true};
  const Amounts plain = PodRequest(pod, options);
  const bool pod_level = HasPodLevelRequests(pod);
  options.default_cpu = !pod_level || plain.count("cpu") == 0;
  options.default_memory = !pod_level || plain.count("memory") == 0;
  return PodRequest(pod, options);
}

}  // namespace berth::testing

#endif  // BERTH_TESTING_REQUESTS_H_
