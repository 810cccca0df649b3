#include "host/api/event_resource.h"

#include <algorithm>
#include <string>
#include <utility>

#include <berth/abi.h>

namespace berth::host {
namespace {

// Kinds without their version, spelled as in kube-scheduler's labels.
constexpr std::pair<uint32_t, std::string_view> kResources[] = {
    {BERTH_RESOURCE_NODE, "Node"},
    {BERTH_RESOURCE_PV, "PersistentVolume"},
    {BERTH_RESOURCE_PVC, "PersistentVolumeClaim"},
    {BERTH_RESOURCE_CSI_NODE, "storage.k8s.io/CSINode"},
    {BERTH_RESOURCE_CSI_DRIVER, "storage.k8s.io/CSIDriver"},
    {BERTH_RESOURCE_VOLUME_ATTACHMENT, "storage.k8s.io/VolumeAttachment"},
    {BERTH_RESOURCE_CSI_STORAGE_CAPACITY, "storage.k8s.io/CSIStorageCapacity"},
    {BERTH_RESOURCE_STORAGE_CLASS, "storage.k8s.io/StorageClass"},
    {BERTH_RESOURCE_RESOURCE_CLAIM, "resource.k8s.io/ResourceClaim"},
    {BERTH_RESOURCE_RESOURCE_SLICE, "resource.k8s.io/ResourceSlice"},
    {BERTH_RESOURCE_DEVICE_CLASS, "resource.k8s.io/DeviceClass"},
    {BERTH_RESOURCE_POD_GROUP, "scheduling.k8s.io/PodGroup"},
};

// Returns the kind without its version: "storage.k8s.io/CSINode" for "storage.k8s.io/v1/CSINode",
// "Node" for "v1/Node".
std::string WithoutVersion(std::string_view kind) {
  const size_t end = kind.rfind('/');
  if (end == std::string_view::npos) return std::string(kind);
  const size_t group_end = kind.substr(0, end).rfind('/');
  if (group_end == std::string_view::npos) return std::string(kind.substr(end + 1));
  return std::string(kind.substr(0, group_end)).append(kind.substr(end));
}

}  // namespace

uint32_t EventResourceOf(std::string_view kind) {
  const std::string name = WithoutVersion(kind);
  for (const auto& [resource, known] : kResources) {
    if (known == name) return resource;
  }
  return BERTH_RESOURCE_CUSTOM;
}

std::string_view KindOfResource(uint32_t resource) {
  const auto* const found =
      std::ranges::find(kResources, resource, [](const auto& row) { return row.first; });
  return found != std::end(kResources) ? found->second : std::string_view();
}

}  // namespace berth::host
