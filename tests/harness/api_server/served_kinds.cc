#include "tests/harness/api_server/served_kinds.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "tests/harness/api_server/model_records.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

std::string PluralOf(std::string_view kind) {
  const std::string resource = ResourceOf(kind);
  return resource.substr(0, resource.find('.'));
}

}  // namespace

std::vector<ServedKind> DefaultServedKinds() {
  return {{"v1/Pod", true},
          {"v1/Node", false},
          {"v1/Namespace", false},
          {"v1/PersistentVolume", false},
          {"v1/PersistentVolumeClaim", true},
          {"v1/ReplicationController", true},
          {"v1/Service", true},
          {"apps/v1/ReplicaSet", true},
          {"apps/v1/StatefulSet", true},
          {"policy/v1/PodDisruptionBudget", true},
          {"resource.k8s.io/v1/DeviceClass", false},
          {"resource.k8s.io/v1/ResourceClaim", true},
          {"resource.k8s.io/v1/ResourceSlice", false},
          {"storage.k8s.io/v1/CSIDriver", false},
          {"storage.k8s.io/v1/CSINode", false},
          {"storage.k8s.io/v1/CSIStorageCapacity", true},
          {"storage.k8s.io/v1/StorageClass", false},
          {"storage.k8s.io/v1/VolumeAttachment", false}};
}

std::string_view ShortKindOf(std::string_view kind) { return kind.substr(kind.rfind('/') + 1); }

std::optional<std::string> ResourceListText(std::span<const ServedKind> kinds,
                                            std::string_view group_version) {
  Json resources = Json::array();
  const auto add = [&](std::string name, std::string_view kind, bool is_namespaced, Json verbs) {
    resources.push_back({{"name", std::move(name)},
                         {"singularName", ""},
                         {"namespaced", is_namespaced},
                         {"kind", ShortKindOf(kind)},
                         {"verbs", std::move(verbs)}});
  };
  const Json all = {"create", "delete", "get", "list", "patch", "update", "watch"};
  for (const ServedKind& kind : kinds) {
    if (GroupVersionOf(kind.kind) != group_version) continue;
    add(PluralOf(kind.kind), kind.kind, kind.is_namespaced, all);
    if (kind.kind != kPodKind) continue;
    add("pods/binding", "v1/Binding", true, {"create"});
    add("pods/status", kPodKind, true, {"get", "patch", "update"});
  }
  for (const std::string_view kind : {ModelEvents::kKind, ModelLeases::kKind}) {
    if (GroupVersionOf(kind) == group_version) add(PluralOf(kind), kind, true, all);
  }
  if (resources.empty()) return std::nullopt;
  return DumpJson(Json{{"kind", "APIResourceList"},
                       {"apiVersion", "v1"},
                       {"groupVersion", group_version},
                       {"resources", std::move(resources)}});
}

}  // namespace berth::host
