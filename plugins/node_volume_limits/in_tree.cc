#include "in_tree.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <berth/span.h>

namespace limits {
namespace {

// CSI drivers replace Azure files and vSphere volumes too, but kube-scheduler counts neither.
constexpr std::array<InTree, 7> kInTree{{
    {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "awsElasticBlockStore", "volumeID",
     BERTH_VOLUME_AWS_DISK, true},
    {"kubernetes.io/azure-disk", "disk.csi.azure.com", "azureDisk", "diskURI",
     BERTH_VOLUME_AZURE_DISK, true},
    {"kubernetes.io/azure-file", "file.csi.azure.com", "azureFile", "shareName",
     BERTH_VOLUME_AZURE_FILE, false},
    {"kubernetes.io/cinder", "cinder.csi.openstack.org", "cinder", "volumeID", BERTH_VOLUME_CINDER,
     true},
    {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gcePersistentDisk", "pdName",
     BERTH_VOLUME_GCE_DISK, true},
    {"kubernetes.io/portworx-volume", "pxd.portworx.com", "portworxVolume", "volumeID",
     BERTH_VOLUME_PORTWORX, true},
    {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "vsphereVolume", "volumePath",
     BERTH_VOLUME_VSPHERE, false},
}};

template <class Is>
const InTree* Find(Is is) {
  const auto found = std::find_if(kInTree.begin(), kInTree.end(), is);
  return found == kInTree.end() ? nullptr : &*found;
}

// Returns the volume's handle: vol-1 for the URL "aws://zone/vol-1", and `id` itself if it is not
// an aws:// URL. Returns nullopt for any other aws:// URL.
// plugins/aws_ebs.go: KubernetesVolumeIDToEBSVolumeID
std::optional<std::string> EbsHandle(std::string_view id) {
  constexpr std::string_view kScheme = "aws://";
  constexpr std::string_view kVolume = "vol-";
  if (!id.starts_with(kScheme)) return std::string(id);
  std::string_view path = id.substr(kScheme.size());
  path = path.substr(0, path.find_first_of("?#"));
  path.remove_prefix(std::min(path.find('/'), path.size()));
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.starts_with(kVolume) || path.find('/') != path.npos) return std::nullopt;
  return std::string(path);
}

// Returns the region of a zone: us-east1 for us-east1-b. Returns nullopt if `zone` does not have
// three parts. plugins/gce_pd.go: gceGetRegionFromZones
std::optional<std::string_view> RegionOf(std::string_view zone) {
  if (std::count(zone.begin(), zone.end(), '-') != 2) return std::nullopt;
  return zone.substr(0, zone.rfind('-'));
}

// Returns the handle of a disk in `place`, such as "zones/us-east1-b".
std::string Disk(std::string_view place, std::string_view disk) {
  return std::string("projects/UNSPECIFIED/").append(place).append("/disks/").append(disk);
}

// Returns the handle of a GCE disk. `zones` is the value of the zone label: empty, or one or more
// zones separated by "__". Returns nullopt if several zones are not all in one region.
std::optional<std::string> GceHandle(std::string_view zones, std::string_view disk) {
  constexpr std::string_view kDelimiter = "__";
  const std::string zone(zones.empty() ? "UNSPECIFIED" : zones);
  if (zones.find(kDelimiter) == zones.npos) return Disk("zones/" + zone, disk);
  const auto region = RegionOf(zones.substr(0, zones.find(kDelimiter)));
  for (size_t at = 0; at != zones.npos;) {
    zones.remove_prefix(at == 0 ? 0 : at + kDelimiter.size());
    if (!region || RegionOf(zones.substr(0, zones.find(kDelimiter))) != region) return std::nullopt;
    at = zones.find(kDelimiter);
  }
  return Disk("regions/" + std::string(*region), disk);
}

std::optional<std::string> Handle(const InTree& in_tree, std::string_view id,
                                  std::string_view zones) {
  switch (in_tree.kind) {
    case BERTH_VOLUME_AWS_DISK: return EbsHandle(id);
    case BERTH_VOLUME_GCE_DISK: return GceHandle(zones, id);
    default: return std::string(id);
  }
}

std::string_view ZonesOf(const berth::Value& persistent_volume) {
  const berth::Value labels = persistent_volume["metadata"]["labels"];
  const std::string_view zones = labels["topology.kubernetes.io/zone"].AsString();
  return zones.empty() ? labels["failure-domain.beta.kubernetes.io/zone"].AsString() : zones;
}

}  // namespace

const InTree* FindByProvisioner(std::string_view provisioner) {
  return Find([provisioner](const InTree& known) { return known.plugin == provisioner; });
}

const InTree* FindByVolume(const berth_volume& volume) {
  return Find([&volume](const InTree& known) { return known.kind == volume.kind; });
}

const InTree* FindBySource(const berth::Value& persistent_volume) {
  const berth::Value spec = persistent_volume["spec"];
  return Find([&spec](const InTree& known) { return !spec[known.source].absent(); });
}

std::optional<std::string> HandleOf(const InTree& in_tree, const berth_volume& volume) {
  const bool azure = in_tree.kind == BERTH_VOLUME_AZURE_DISK;
  return Handle(in_tree, berth::Str(azure ? volume.pool : volume.source), {});
}

std::optional<std::string> HandleOf(const InTree& in_tree, const berth::Value& persistent_volume) {
  const berth::Value source = persistent_volume["spec"][in_tree.source];
  return Handle(in_tree, source[in_tree.id].AsString(), ZonesOf(persistent_volume));
}

}  // namespace limits
