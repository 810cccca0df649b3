// The acts of World on storage objects.
//
// Some acts make a rejected pod schedulable without an event that the rejecting plugin registered
// for. This is also the case in kube-scheduler, where only a flush requeues such pods. These acts
// call AddUnannounced, so that the audit does not expect the pods to be requeued.
#include <array>
#include <utility>

#include "host/base/assert.h"
#include "tests/simulation/world.h"

namespace berth::host {
namespace {

constexpr size_t kClaims = 5;  // Claim cN uses volume vN.
constexpr std::array kVolumeZones{"a", "b", "c", "a__b", ""};
constexpr std::array kClasses{"first", "second"};
constexpr const char* kLimits = "NodeVolumeLimits";

}  // namespace

std::string World::ClaimName() { return "c" + std::to_string(random_.Below(kClaims)); }

void World::PopulateVolumes() {
  if (!scenario_.has_volumes) return;
  for (const char* name : kClasses) CreateObject(kClassKind, "", name, MakeClass(name).Json());
  for (size_t i = 0; i < kClaims; ++i) {
    const std::string number = std::to_string(i);
    if (!random_.OneIn(5)) CreateClaim("c" + number);
    if (!random_.OneIn(5)) CreateObject(kVolumeKind, "", "v" + number, MakeVolume(number).Json());
  }
}

void World::MakeVolumes(PodSketch& pod) {
  if (!scenario_.has_volumes || random_.OneIn(2)) return;
  for (size_t claims = 1 + random_.Below(2); claims > 0; --claims) pod.claims.insert(ClaimName());
  if (random_.OneIn(4)) pod.disks.insert("disk-" + std::to_string(random_.Below(2)));
}

ClassSketch World::MakeClass(std::string name) {
  return {.name = std::move(name), .waits_for_pod = !random_.OneIn(3)};
}

VolumeSketch World::MakeVolume(const std::string& number) {
  return {.name = "v" + number, .zones = random_.Pick(kVolumeZones)};
}

void World::CreateObject(const char* kind, std::string_view ns, std::string_view name,
                         const std::string& json) {
  BERTH_ASSERT(!cluster_.Find(kind, ns, name).has_value());
  TraceAct("create", name, json);
  const auto created = cluster_.Create(DecodeObject(json));
  BERTH_ASSERT_MSG(created.ok(), "%s", created.status().ToString().c_str());
}

void World::PutObject(std::string_view name, const std::string& json) {
  TraceAct("change", name, json);
  const auto updated = cluster_.Update(DecodeObject(json));
  BERTH_ASSERT_MSG(updated.ok(), "%s", updated.status().ToString().c_str());
}

bool World::RemoveObject(const char* kind, std::string_view ns, std::string_view name) {
  if (!cluster_.Find(kind, ns, name).has_value()) return false;
  TraceAct("remove", name, kind);
  BERTH_ASSERT(cluster_.Delete(kind, ns, name).ok());
  return true;
}

ObjectRef World::DecodeObject(const std::string& json) {
  auto object = decoder_.DecodeObject(json);
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  return *std::move(object);
}

// ---- Acts ---------------------------------------------------------------------------------------

// Creates, binds, deletes or replaces a claim.
void World::ChangeClaim() {
  const std::string name = ClaimName();
  const auto found = claims_.find(name);
  if (found != claims_.end() && found->second.volume.empty() && !random_.OneIn(3)) {
    found->second.volume = "v" + name.substr(1);
    return PutObject(name, found->second.Json());
  }
  if (found != claims_.end()) {
    RemoveObject(kClaimKind, "default", name);
    claims_.erase(found);
    AddUnannounced(
        kLimits);  // Pods on nodes may still name the claim. Their volume no longer counts.
    if (random_.OneIn(2)) return;
  }
  CreateClaim(name);
}

void World::CreateClaim(const std::string& name) {
  ClaimSketch claim{.name = name,
                    .storage_class = random_.Pick(kClasses),
                    .is_read_write_once_pod = random_.OneIn(2),
                    .volume = random_.OneIn(3) ? "" : "v" + name.substr(1)};
  CreateObject(kClaimKind, "default", name, claim.Json());
  claims_[name] = std::move(claim);
}

// Creates, changes, deletes or replaces a volume.
void World::ChangeVolume() {
  const VolumeSketch volume = MakeVolume(std::to_string(random_.Below(kClaims)));
  const bool exists = cluster_.Find(kVolumeKind, "", volume.name).has_value();
  if (exists && random_.OneIn(2)) return PutObject(volume.name, volume.Json());
  if (exists) {
    RemoveObject(kVolumeKind, "", volume.name);
    AddUnannounced(kLimits);
    if (random_.OneIn(2)) return;
  }
  CreateObject(kVolumeKind, "", volume.name, volume.Json());
}

// Creates, deletes or replaces a class. The binding mode of a class never changes.
void World::ChangeClass() {
  const char* name = random_.Pick(kClasses);
  if (RemoveObject(kClassKind, "", name)) {
    AddUnannounced(kLimits);
    if (random_.OneIn(2)) return;
  }
  CreateObject(kClassKind, "", name, MakeClass(name).Json());
}

void World::ChangeCsiNode() {
  const NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  if (random_.OneIn(4)) {
    RemoveCsiNode(node->name);
    if (random_.OneIn(2)) return;
  }
  PutCsiNode(node->name);
}

void World::PutCsiNode(const std::string& node) {
  if (!scenario_.has_volumes) return;
  const CsiNodeSketch sketch{.node = node, .limit = random_.Between(0, 3)};
  if (cluster_.Find(kCsiNodeKind, "", node).has_value()) return PutObject(node, sketch.Json());
  CreateObject(kCsiNodeKind, "", node, sketch.Json());
}

void World::RemoveCsiNode(const std::string& node) { RemoveObject(kCsiNodeKind, "", node); }

void World::OnNodeRemoved(const std::string& name) {
  if (scenario_.has_volumes && random_.OneIn(2)) RemoveCsiNode(name);
}

void World::OnNodeAdded(const std::string& name) {
  if (scenario_.has_volumes && !random_.OneIn(4)) PutCsiNode(name);
}

}  // namespace berth::host
