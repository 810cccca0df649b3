#include "host/cycle/slow_pod.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "host/base/time.h"
#include "host/guard/point.h"

namespace berth::host {
namespace {

constexpr uint64_t kLongList = 100;

struct List {
  std::string_view pointer;
  uint64_t count;
};

List LongestList(const berth_pod& pod) {
  const berth_affinity& affinity = *pod.affinity;
  const std::vector<List> lists = {
      {"/metadata/labels", pod.meta->labels.count},
      {"/metadata/annotations", pod.meta->annotations.count},
      {"/metadata/ownerReferences", pod.meta->owners.count},
      {"/spec/nodeSelector", pod.node_selector.count},
      {"/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution",
       affinity.required_node_terms.count},
      {"/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution",
       affinity.preferred_node_terms.count},
      {"/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution",
       affinity.required_pod_terms.count},
      {"/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution",
       affinity.preferred_pod_terms.count},
      {"/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution",
       affinity.required_pod_anti_terms.count},
      {"/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution",
       affinity.preferred_pod_anti_terms.count},
      {"/spec/tolerations", pod.tolerations.count},
      {"/spec/topologySpreadConstraints", pod.spreads.count},
      {"/spec/containers", pod.containers.count},
      {"/spec/initContainers", pod.init_containers.count},
      {"/spec/volumes", pod.volumes.count},
      {"/spec/resourceClaims", pod.resource_claims.count},
      {"the host ports of /spec/containers", pod.host_ports.count},
      {"the requests of /spec/containers", pod.request->scalars.count}};
  return *std::ranges::max_element(lists, {}, &List::count);
}

}  // namespace

std::string SlowPodMessage(const LateCall& late, const berth_pod& pod) {
  std::string text = "plugin \"" + late.plugin + "\" took longer than ";
  text.append(FormatDuration(late.deadline_ns)).append(" at ").append(NameOf(late.point));
  text.append(" for this pod");
  const List longest = LongestList(pod);
  if (longest.count <= kLongList) return text;
  text.append(", whose list ").append(longest.pointer).append(" has ");
  return text.append(std::to_string(longest.count)).append(" entries");
}

}  // namespace berth::host
