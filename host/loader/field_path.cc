#include "host/loader/field_path.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::string_view kPodPrefix = "Pod:";
constexpr std::string_view kNodePrefix = "Node:";

// The fields of Kubernetes 1.37, by their names in JSON. Kubernetes: api/core/v1/types.go and
// apimachinery/pkg/apis/meta/v1/types.go.
constexpr auto kMetadata = std::to_array<std::string_view>(
    {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
     "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
     "annotations", "ownerReferences", "finalizers", "managedFields"});
constexpr auto kPodSpec = std::to_array<std::string_view>({"volumes",
                                                           "initContainers",
                                                           "containers",
                                                           "ephemeralContainers",
                                                           "restartPolicy",
                                                           "terminationGracePeriodSeconds",
                                                           "activeDeadlineSeconds",
                                                           "dnsPolicy",
                                                           "nodeSelector",
                                                           "serviceAccountName",
                                                           "serviceAccount",
                                                           "automountServiceAccountToken",
                                                           "nodeName",
                                                           "hostNetwork",
                                                           "hostPID",
                                                           "hostIPC",
                                                           "shareProcessNamespace",
                                                           "securityContext",
                                                           "imagePullSecrets",
                                                           "hostname",
                                                           "subdomain",
                                                           "affinity",
                                                           "schedulerName",
                                                           "tolerations",
                                                           "hostAliases",
                                                           "priorityClassName",
                                                           "priority",
                                                           "dnsConfig",
                                                           "readinessGates",
                                                           "runtimeClassName",
                                                           "enableServiceLinks",
                                                           "preemptionPolicy",
                                                           "overhead",
                                                           "topologySpreadConstraints",
                                                           "setHostnameAsFQDN",
                                                           "os",
                                                           "hostUsers",
                                                           "schedulingGates",
                                                           "resourceClaims",
                                                           "resources",
                                                           "hostnameOverride",
                                                           "workloadRef",
                                                           "schedulingGroup"});
constexpr auto kPodStatus =
    std::to_array<std::string_view>({"observedGeneration",
                                     "phase",
                                     "conditions",
                                     "message",
                                     "reason",
                                     "nominatedNodeName",
                                     "hostIP",
                                     "hostIPs",
                                     "podIP",
                                     "podIPs",
                                     "startTime",
                                     "initContainerStatuses",
                                     "containerStatuses",
                                     "qosClass",
                                     "ephemeralContainerStatuses",
                                     "resize",
                                     "resourceClaimStatuses",
                                     "extendedResourceClaimStatus",
                                     "allocatedResources",
                                     "resources",
                                     "nodeAllocatableResourceClaimStatuses"});
constexpr auto kNodeSpec = std::to_array<std::string_view>(
    {"podCIDR", "podCIDRs", "providerID", "unschedulable", "taints", "configSource", "externalID"});
constexpr auto kNodeStatus = std::to_array<std::string_view>(
    {"capacity", "allocatable", "phase", "conditions", "addresses", "daemonEndpoints", "nodeInfo",
     "images", "volumesInUse", "volumesAttached", "config", "runtimeHandlers", "features",
     "declaredFeatures"});

struct Part {
  std::string_view name;
  std::span<const std::string_view> fields;  // Empty: the part is a text.
};
using Parts = std::array<Part, 5>;
constexpr Parts kPod = {{{"apiVersion", {}},
                         {"kind", {}},
                         {"metadata", kMetadata},
                         {"spec", kPodSpec},
                         {"status", kPodStatus}}};
constexpr Parts kNode = {{{"apiVersion", {}},
                          {"kind", {}},
                          {"metadata", kMetadata},
                          {"spec", kNodeSpec},
                          {"status", kNodeStatus}}};

bool HasValidEscapes(std::string_view segment) {
  for (size_t at = segment.find('~'); at != std::string_view::npos;
       at = segment.find('~', at + 1)) {
    if (at + 1 == segment.size() || (segment[at + 1] != '0' && segment[at + 1] != '1'))
      return false;
  }
  return true;
}

// Returns the segments, which keep their escapes; nullopt if the text is no JSON pointer to a part
// of an object.
std::optional<std::vector<std::string_view>> SegmentsOf(std::string_view pointer) {
  std::vector<std::string_view> segments;
  if (!pointer.starts_with('/')) return std::nullopt;
  while (!pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    segments.push_back(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    if (segments.back().empty() || !HasValidEscapes(segments.back())) return std::nullopt;
  }
  return segments;
}

// Returns "/spec", "/spec/hostIPC" and all other paths that are known.
std::vector<std::string> PathsOf(const Parts& parts) {
  std::vector<std::string> paths;
  for (const Part& part : parts) {
    const std::string path = "/" + std::string(part.name);
    paths.push_back(path);
    for (const std::string_view field : part.fields) {
      paths.push_back(path + "/" + std::string(field));
    }
  }
  return paths;
}

// Returns the path that exists and is most similar to an unknown one; empty if none is similar and
// not even the first segment exists.
std::string NearestPath(const Parts& parts, const std::vector<std::string_view>& segments) {
  const std::vector<std::string> paths = PathsOf(parts);
  std::string wanted = "/" + std::string(segments[0]);
  std::string rest;
  if (segments.size() > 1) wanted.append("/").append(segments[1]);
  for (size_t i = 2; i < segments.size(); ++i) rest.append("/").append(segments[i]);
  if (segments.size() > 1) {
    const auto is_elsewhere = [&](const std::string& path) {
      return path.ends_with("/" + std::string(segments[1]));
    };
    const auto other = std::ranges::find_if(paths, is_elsewhere);
    if (other != paths.end()) return *other + rest;
  }
  const std::vector<std::string> similar = NearMisses(wanted, paths);
  if (!similar.empty()) return similar.front() + rest;
  const std::string parent = "/" + std::string(segments[0]);
  return std::ranges::find(paths, parent) == paths.end() ? "" : parent;
}

// Checks a pointer into an object of the kind "Pod" or "Node". `prefix` precedes it in messages.
std::optional<FieldPathError> CheckPointer(std::string_view kind, const Parts& parts,
                                           std::string_view prefix, std::string_view pointer) {
  const std::string found = Quoted(std::string(prefix).append(pointer));
  const auto segments = SegmentsOf(pointer);
  if (!segments.has_value()) {
    return FieldPathError{"a JSON pointer such as " + std::string(prefix) + "/spec/nodeName",
                          found};
  }
  const auto part = std::ranges::find(parts, segments->front(), &Part::name);
  const bool is_known = part != parts.end() &&
                        (segments->size() == 1 ||
                         std::ranges::find(part->fields, (*segments)[1]) != part->fields.end());
  if (is_known) return std::nullopt;
  const std::string nearest = NearestPath(parts, *segments);
  return FieldPathError{
      "a field of a " + std::string(kind) + " of Kubernetes 1.37",
      found + (nearest.empty() ? "" : "; did you mean " + std::string(prefix) + nearest + "?")};
}

}  // namespace

std::optional<FieldPathError> CheckFieldPath(std::string_view path) {
  if (path == kPodPrefix || path == kNodePrefix) return std::nullopt;  // The whole object.
  if (path.starts_with(kPodPrefix)) {
    return CheckPointer("Pod", kPod, kPodPrefix, path.substr(kPodPrefix.size()));
  }
  if (path.starts_with(kNodePrefix)) {
    return CheckPointer("Node", kNode, kNodePrefix, path.substr(kNodePrefix.size()));
  }
  return FieldPathError{"a path that begins with Pod: or Node:, such as Pod:/spec/hostIPC",
                        Quoted(path)};
}

std::optional<FieldPathError> CheckPodFieldPath(std::string_view pointer) {
  return CheckPointer("Pod", kPod, "", pointer);
}

}  // namespace berth::host
