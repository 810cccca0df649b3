#include "tests/simulation/storage_acts.h"

#include <array>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr size_t kClaims = 5;  // Claim cN uses volume vN.
constexpr std::array kVolumeZones{"a", "b", "c", "a__b", ""};
constexpr std::array kClasses{"first", "second"};

}  // namespace

std::string StorageActs::PickClaim() { return "c" + std::to_string(random_.Below(kClaims)); }

void StorageActs::Populate() {
  if (!scenario_.has_volumes) return;
  for (const char* name : kClasses) Create(kClassKind, "", name, MakeClass(name).Json());
  for (size_t i = 0; i < kClaims; ++i) {
    const std::string number = std::to_string(i);
    if (!random_.OneIn(5)) CreateClaim("c" + number);
    if (!random_.OneIn(5)) Create(kVolumeKind, "", "v" + number, MakeVolume(number).Json());
  }
}

void StorageActs::AddVolumes(PodSketch& pod) {
  if (!scenario_.has_volumes || random_.OneIn(2)) return;
  for (size_t claims = 1 + random_.Below(2); claims > 0; --claims) pod.claims.insert(PickClaim());
  if (random_.OneIn(4)) pod.disks.insert("disk-" + std::to_string(random_.Below(2)));
}

ClassSketch StorageActs::MakeClass(std::string name) {
  return {.name = std::move(name), .waits_for_pod = !random_.OneIn(3)};
}

VolumeSketch StorageActs::MakeVolume(const std::string& number) {
  return {.name = "v" + number, .zones = random_.Pick(kVolumeZones)};
}

void StorageActs::Create(const char* kind, std::string_view ns, std::string_view name,
                         const std::string& json) {
  BERTH_ASSERT(!writer_.cluster().Find(kind, ns, name).has_value());
  writer_.TraceAct("create", name, json);
  writer_.Create(json);
}

void StorageActs::Update(std::string_view name, const std::string& json) {
  writer_.TraceAct("change", name, json);
  writer_.Update(json);
}

bool StorageActs::Remove(const char* kind, std::string_view ns, std::string_view name) {
  if (!writer_.cluster().Find(kind, ns, name).has_value()) return false;
  writer_.TraceAct("remove", name, kind);
  BERTH_ASSERT(writer_.cluster().Delete(kind, ns, name).ok());
  return true;
}

// ---- Acts ---------------------------------------------------------------------------------------

void StorageActs::ChangeClaim() {
  const std::string name = PickClaim();
  const auto found = claims_.find(name);
  if (found != claims_.end() && found->second.volume.empty() && !random_.OneIn(3)) {
    found->second.volume = "v" + name.substr(1);
    return Update(name, found->second.Json());
  }
  if (found != claims_.end()) {
    Remove(kClaimKind, "default", name);
    claims_.erase(found);
    if (random_.OneIn(2)) return;
  }
  CreateClaim(name);
}

void StorageActs::CreateClaim(const std::string& name) {
  ClaimSketch claim{.name = name,
                    .storage_class = random_.Pick(kClasses),
                    .is_read_write_once_pod = random_.OneIn(2),
                    .volume = random_.OneIn(3) ? "" : "v" + name.substr(1)};
  Create(kClaimKind, "default", name, claim.Json());
  claims_[name] = std::move(claim);
}

void StorageActs::ChangeVolume() {
  const VolumeSketch volume = MakeVolume(std::to_string(random_.Below(kClaims)));
  const bool exists = writer_.cluster().Find(kVolumeKind, "", volume.name).has_value();
  if (exists && random_.OneIn(2)) return Update(volume.name, volume.Json());
  if (exists) {
    Remove(kVolumeKind, "", volume.name);
    if (random_.OneIn(2)) return;
  }
  Create(kVolumeKind, "", volume.name, volume.Json());
}

void StorageActs::ChangeClass() {
  const char* name = random_.Pick(kClasses);
  if (Remove(kClassKind, "", name)) {
    if (random_.OneIn(2)) return;
  }
  Create(kClassKind, "", name, MakeClass(name).Json());
}

void StorageActs::ChangeCsiNode(const std::string& node) {
  if (random_.OneIn(4)) {
    RemoveCsiNode(node);
    if (random_.OneIn(2)) return;
  }
  PutCsiNode(node);
}

void StorageActs::PutCsiNode(const std::string& node) {
  if (!scenario_.has_volumes) return;
  const CsiNodeSketch sketch{.node = node, .limit = random_.Between(0, 3)};
  if (writer_.cluster().Find(kCsiNodeKind, "", node).has_value())
    return Update(node, sketch.Json());
  Create(kCsiNodeKind, "", node, sketch.Json());
}

void StorageActs::RemoveCsiNode(const std::string& node) { Remove(kCsiNodeKind, "", node); }

void StorageActs::OnNodeRemoved(const std::string& name) {
  if (scenario_.has_volumes && random_.OneIn(2)) RemoveCsiNode(name);
}

void StorageActs::OnNodeAdded(const std::string& name) {
  if (scenario_.has_volumes && !random_.OneIn(4)) PutCsiNode(name);
}

}  // namespace berth::host
