#include "volume_index.h"

#include <algorithm>
#include <utility>

#include <berth/claims.h>
#include <berth/span.h>
#include <berth/status.h>

#include "in_tree.h"

namespace limits {
namespace {

std::string NameOf(const berth_object& object) {
  return std::string(berth::Str(object.meta->name));
}

// Replaces the entry of the old object by the result of `read` for the object that there is now.
template <class Map, class Read>
void Replace(Map& map, const berth::ObjectChange& change, Read read) {
  const berth_object* const now = change.now;
  if (now == nullptr) map.erase(NameOf(*change.old));
  if (now != nullptr) map.insert_or_assign(NameOf(*now), read(berth::Value(now->value)));
}

template <class Map>
auto* Find(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

const CsiNode::Driver* CsiNode::Find(std::string_view driver) const {
  const auto found = std::find_if(drivers.begin(), drivers.end(),
                                  [driver](const Driver& known) { return known.name == driver; });
  return found == drivers.end() ? nullptr : &*found;
}

CsiNode ReadCsiNode(const berth::Value& csi_node) {
  CsiNode read;
  for (const berth::Value driver : csi_node["spec"]["drivers"]) {
    const berth::Value count = driver["allocatable"]["count"];
    read.drivers.push_back({std::string(driver["name"].AsString()),
                            count.absent() ? std::nullopt : std::optional(count.AsInt())});
  }
  return read;
}

bool PreventsSchedulingIfMissing(const berth::Value& csi_driver, berth::KubeVersion version) {
  return DriversMayBeRequired(version) &&
         csi_driver["spec"]["preventPodSchedulingIfMissing"].AsBool();
}

Claim ReadClaim(const berth_object& claim) {
  const berth::Value value(claim.value);
  return {std::string(value["spec"]["volumeName"].AsString()),
          std::string(berth::ClaimClass(value)), std::string(berth::ControllerUid(*claim.meta))};
}

Volume ReadVolume(const berth::Value& volume) {
  const berth::Value csi = volume["spec"]["csi"];
  Volume read;
  if (!csi.absent()) {
    read = {std::string(csi["driver"].AsString()), std::string(csi["volumeHandle"].AsString())};
  } else if (const InTree* in_tree = FindBySource(volume); in_tree != nullptr && in_tree->counted) {
    read = {std::string(in_tree->driver), HandleOf(*in_tree, volume).value_or(""), true};
  }
  return read.driver.empty() || read.handle.empty() ? Volume() : read;
}

VolumeIndex::VolumeIndex(const berth::Host& host) : host_(host) {
  const berth::Objects objects = host_.objects();
  for (const berth::Status& status :
       {objects.Watch<&VolumeIndex::OnClaim>(kClaims, this),
        objects.Watch<&VolumeIndex::OnVolume>(kVolumes, this),
        objects.Watch<&VolumeIndex::OnClass>(kClasses, this),
        objects.Watch<&VolumeIndex::OnCsiNode>(kCsiNodes, this),
        objects.Watch<&VolumeIndex::OnCsiDriver>(kCsiDrivers, this),
        objects.Watch<&VolumeIndex::OnAttachment>(kAttachments, this)}) {
    if (!status.ok()) throw berth::Error("this host does not support watching objects");
  }
}

// ---- Lookups ----------------------------------------------------------------------------------

const Claim* VolumeIndex::FindClaim(berth_id ns, std::string_view name) const {
  const auto found = claims_.find(ClaimView{ns, name});
  return found == claims_.end() ? nullptr : &found->second;
}

const CsiNode* VolumeIndex::Read(const berth_object* csi_node) const {
  if (csi_node == nullptr) return nullptr;
  const auto found = csi_nodes_.find(csi_node);
  return found == csi_nodes_.end() ? nullptr : &found->second;
}

VolumeName VolumeIndex::NameOf(const Claim& claim, berth_id ns, std::string_view claim_name) const {
  if (!claim.volume.empty()) {
    if (const Volume* volume = Find(volumes_, claim.volume)) {
      return {volume->driver, volume->handle, BERTH_ID_NONE, volume->migrated};
    }
  }
  // The driver of the class will provide the volume. A claim without a class must be bound before
  // its pod is scheduled, and does not count.
  const StorageClass* const storage_class =
      claim.storage_class.empty() ? nullptr : Find(classes_, claim.storage_class);
  if (storage_class == nullptr || storage_class->driver.empty()) return {};
  return {storage_class->driver, claim_name, ns, storage_class->migrated};
}

std::span<const Attachment> VolumeIndex::AttachmentsTo(std::string_view node) const {
  const auto* const found = Find(attachments_, node);
  return found == nullptr ? std::span<const Attachment>() : std::span<const Attachment>(*found);
}

VolumeName VolumeIndex::NameOf(const Attachment& attachment) const {
  const Volume* const volume = Find(volumes_, attachment.volume);
  if (volume == nullptr || volume->driver.empty() || volume->migrated) return {};
  return {attachment.driver, volume->handle, BERTH_ID_NONE, false};
}

bool VolumeIndex::MustBeInstalled(std::string_view driver) const {
  return !must_be_installed_.empty() && must_be_installed_.find(driver) != must_be_installed_.end();
}

void VolumeIndex::AddNeeds(const Claim* claim, Needs& needs) {
  needs.claims = true;
  if (claim == nullptr) return;
  needs.volumes |= !claim->volume.empty();
  // The class counts if the volume does not exist, too.
  needs.classes |= claim->volume.empty() && !claim->storage_class.empty();
}

void VolumeIndex::Count(const Claim& claim, int by) {
  if (!claim.volume.empty()) {
    with_volume_ += by;
  } else if (!claim.storage_class.empty()) {
    with_class_only_ += by;
  }
}

void VolumeIndex::Note(const Needs& needs) {
  claim_need_.Note(needs.claims);
  volume_need_.Note(needs.volumes || (needs.limits && !attachments_.empty()));
  class_need_.Note(needs.classes);
  csi_node_need_.Note(needs.limits);
  csi_driver_need_.Note(needs.limits && DriversMayBeRequired(host_.emulated_version()));
  attachment_need_.Note(needs.limits);
}

// ---- Watch callbacks --------------------------------------------------------------------------

void VolumeIndex::OnClaim(const berth::ObjectChange& change) {
  const berth_object* const now = change.now;
  const berth_object& object = now != nullptr ? *now : *change.old;
  // Every claim in the index holds its key's id.
  const berth_id ns = host_.Intern(host_.Text(object.meta->ns));
  ClaimKey key{ns, limits::NameOf(object)};
  const auto old = claims_.find(key);
  if (old != claims_.end()) Count(old->second, -1);
  if (now == nullptr) {
    if (claims_.erase(key) != 0) host_.Release(ns);
    host_.Release(ns);
    return;
  }
  Claim claim = ReadClaim(*now);
  Count(claim, 1);
  const bool is_new = claims_.insert_or_assign(std::move(key), std::move(claim)).second;
  if (!is_new) host_.Release(ns);
}

void VolumeIndex::OnVolume(const berth::ObjectChange& change) {
  Replace(volumes_, change, ReadVolume);
}

void VolumeIndex::OnClass(const berth::ObjectChange& change) {
  Replace(classes_, change, [](const berth::Value& storage_class) {
    const std::string_view provisioner = storage_class["provisioner"].AsString();
    const InTree* const in_tree = FindByProvisioner(provisioner);
    if (in_tree == nullptr) return StorageClass{std::string(provisioner)};
    if (!in_tree->counted) return StorageClass();
    return StorageClass{std::string(in_tree->driver), true};
  });
}

void VolumeIndex::OnCsiNode(const berth::ObjectChange& change) {
  if (change.old != nullptr) csi_nodes_.erase(change.old);
  if (change.now != nullptr)
    csi_nodes_.emplace(change.now, ReadCsiNode(berth::ValueOf(change.now)));
}

void VolumeIndex::OnCsiDriver(const berth::ObjectChange& change) {
  const berth_object* const now = change.now;
  if (change.old != nullptr) must_be_installed_.erase(limits::NameOf(*change.old));
  if (PreventsSchedulingIfMissing(berth::ValueOf(now), host_.emulated_version())) {
    must_be_installed_.insert(limits::NameOf(*now));
  }
}

void VolumeIndex::OnAttachment(const berth::ObjectChange& change) {
  const berth_object* const old = change.old;
  const berth_object* const now = change.now;
  if (old != nullptr) {
    const auto node = attachments_.find(berth::ValueOf(old)["spec"]["nodeName"].AsString());
    if (node != attachments_.end()) {
      std::erase_if(node->second, [name = berth::Str(old->meta->name)](const Attachment& known) {
        return known.name == name;
      });
      if (node->second.empty()) attachments_.erase(node);
    }
  }
  const berth::Value spec = berth::ValueOf(now)["spec"];
  Attachment attachment{now == nullptr ? "" : limits::NameOf(*now),
                        std::string(spec["attacher"].AsString()),
                        std::string(spec["source"]["persistentVolumeName"].AsString())};
  if (attachment.driver.empty() || attachment.volume.empty()) return;
  attachments_[std::string(spec["nodeName"].AsString())].push_back(std::move(attachment));
}

}  // namespace limits
