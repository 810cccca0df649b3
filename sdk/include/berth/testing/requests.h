// Computes what a pod requests (component-helpers: resource/helpers.go, PodRequests).
#ifndef BERTH_TESTING_REQUESTS_H_
#define BERTH_TESTING_REQUESTS_H_

#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>

namespace berth::testing {

// The amounts that a container without a request counts with in scores
// (pkg/scheduler/util/pod_resources.go).
inline constexpr int64_t kDefaultMilliCpu = 100;
inline constexpr int64_t kDefaultMemory = int64_t{200} << 20;

struct RequestOptions {
  bool default_cpu = false;     // containers without a cpu request count as kDefaultMilliCpu
  bool default_memory = false;  // containers without a memory request count as kDefaultMemory
  bool pod_level = true;        // spec.resources overrides cpu, memory and huge pages
  bool allocated = false;       // the larger sum of a resize in progress counts, as since 1.37
};

namespace internal {

// Returns whether spec.resources of a pod may request the resource: cpu, memory, huge pages.
bool IsPodLevelResource(std::string_view name);

}  // namespace internal

bool HasPodLevelRequests(const PodSpec& pod);

Amounts PodRequest(const PodSpec& pod, const RequestOptions& options);

// Returns the request with defaults, as in berth_pod.nonzero_*. With pod-level requests, a default
// counts only if neither the pod nor any container names the resource
// (pkg/scheduler/framework/types.go, getNonMissingContainerRequests).
Amounts NonzeroRequest(const PodSpec& pod);

}  // namespace berth::testing

#endif  // BERTH_TESTING_REQUESTS_H_
