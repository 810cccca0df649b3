#include "host/api/api_kinds.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/base/text.h"

namespace berth::host {
namespace {

struct Group {
  std::string_view name;
  // The versions that Kubernetes 1.37 serves, the preferred one first, separated by spaces.
  std::string_view versions;
  std::string_view kinds;  // Separated by spaces.
  // The group gets no new kinds.
  bool is_complete = false;
};

constexpr std::array<Group, 23> kGroups = {{
    {"", "v1",
     "Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume "
     "PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service "
     "ServiceAccount Status",
     true},
    {"apps", "v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", true},
    {"batch", "v1", "CronJob Job", true},
    {"autoscaling", "v2 v1", "HorizontalPodAutoscaler Scale", true},
    {"policy", "v1", "Eviction PodDisruptionBudget", true},
    {"admissionregistration.k8s.io", "v1",
     "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
     "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
    {"apiregistration.k8s.io", "v1", "APIService"},
    {"authentication.k8s.io", "v1", "SelfSubjectReview TokenRequest TokenReview"},
    {"authorization.k8s.io", "v1",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"},
    {"certificates.k8s.io", "v1",
     "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest"},
    {"coordination.k8s.io", "v1", "Lease LeaseCandidate"},
    {"discovery.k8s.io", "v1", "EndpointSlice"},
    {"events.k8s.io", "v1", "Event"},
    {"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema PriorityLevelConfiguration"},
    {"lifecycle.k8s.io", "v1alpha1", "Eviction EvictionRequest"},
    {"networking.k8s.io", "v1", "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR"},
    {"node.k8s.io", "v1", "RuntimeClass"},
    {"rbac.authorization.k8s.io", "v1", "ClusterRole ClusterRoleBinding Role RoleBinding"},
    {"resource.k8s.io", "v1",
     "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"},
    {"scheduling.k8s.io", "v1", "CompositePodGroup PodGroup PriorityClass Workload"},
    {"storage.k8s.io", "v1",
     "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"},
    {"storagemigration.k8s.io", "v1", "StorageVersionMigration"},
}};

constexpr std::string_view kOwnSuffix = ".k8s.io";

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (begins && (end == text.size() || text[end] == ' ')) return !word.empty();
  }
  return false;
}

const Group* FindGroup(std::string_view name) {
  const auto* found = std::ranges::find(kGroups, name, &Group::name);
  return found == kGroups.end() ? nullptr : found;
}

std::string PreferredVersion(const Group& group) {
  const std::string version(Words(group.versions).front());
  return group.name.empty() ? version : std::string(group.name).append("/").append(version);
}

std::string ApiVersionOf(const GroupVersionKind& kind) {
  std::string text(kind.group);
  if (!text.empty()) text += '/';
  return text.append(kind.version);
}

// Returns "expected apps/v1 for the kind Deployment, found v1".
Status WrongVersion(const GroupVersionKind& kind, const std::vector<std::string>& expected) {
  return Status::InvalidArgument("/apiVersion: expected " + Join(expected, " or ") +
                                 " for the kind " + std::string(kind.kind) + ", found " +
                                 ApiVersionOf(kind));
}

// Returns the groups that have the kind.
std::vector<std::string> VersionsWith(std::string_view kind) {
  std::vector<std::string> versions;
  for (const Group& group : kGroups) {
    if (HasWord(group.kinds, kind)) versions.push_back(PreferredVersion(group));
  }
  return versions;
}

// Returns how a kind is spelled that differs in case, or is a plural as in the path of a request;
// "" if there is none.
std::string_view CorrectSpelling(std::string_view kind) {
  const std::string wanted = ToLower(kind);
  for (const Group& group : kGroups) {
    for (const std::string_view name : Words(group.kinds)) {
      const std::string own = ToLower(name);
      const bool is_plural =
          wanted == own + "s" || wanted == own + "es" ||
          (own.ends_with('y') && wanted == own.substr(0, own.size() - 1) + "ies");
      if (wanted == own || is_plural) return name;
    }
  }
  return {};
}

Status Unknown(const GroupVersionKind& kind, std::string_view spelled) {
  std::string message = "/kind: expected a kind of Kubernetes, found " + std::string(kind.kind) +
                        " (apiVersion " + ApiVersionOf(kind) + ")";
  if (!spelled.empty()) {
    return Status::InvalidArgument(message + "; did you mean " + std::string(spelled) + "?");
  }
  std::vector<std::string> names;
  for (const Group& group : kGroups) {
    for (const std::string_view name : Words(group.kinds)) names.emplace_back(name);
  }
  return Status::InvalidArgument(message + DidYouMean(kind.kind, names));
}

}  // namespace

GroupVersionKind SplitKind(std::string_view kind) {
  const size_t last = kind.rfind('/');
  if (last == kind.npos) return {"", "", kind};
  const std::string_view api_version = kind.substr(0, last);
  const size_t slash = api_version.find('/');
  if (slash == api_version.npos) return {"", api_version, kind.substr(last + 1)};
  return {api_version.substr(0, slash), api_version.substr(slash + 1), kind.substr(last + 1)};
}

// The dot: apiextensions, ValidateCustomResourceDefinition.
bool IsCustomKind(std::string_view kind) {
  const std::string_view group = SplitKind(kind).group;
  return FindGroup(group) == nullptr && group.find('.') != group.npos;
}

Status CheckKind(std::string_view kind) {
  const GroupVersionKind parts = SplitKind(kind);
  const Group* const group = FindGroup(parts.group);
  const bool is_complete = group != nullptr && group->is_complete;
  if (group != nullptr && HasWord(group->kinds, parts.kind)) {
    if (!is_complete || HasWord(group->versions, parts.version)) return {};
    return WrongVersion(parts, {PreferredVersion(*group)});
  }
  if (IsCustomKind(kind)) return {};
  const std::vector<std::string> versions = VersionsWith(parts.kind);
  if (!versions.empty()) return WrongVersion(parts, versions);
  const std::string_view spelled = CorrectSpelling(parts.kind);
  const bool may_be_new = !is_complete && parts.group.ends_with(kOwnSuffix);
  return may_be_new && spelled.empty() ? Status() : Unknown(parts, spelled);
}

}  // namespace berth::host
