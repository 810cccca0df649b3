// VolumeRestrictions: rejects nodes on which a disk of the pod cannot be shared with the pods that
// use it, and pods with a ReadWriteOncePod claim that is in use.
// kube-scheduler: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/claims.h>
#include <berth/plugin.h>
#include <berth/positions.h>

#include "claims_in_use.h"
#include "conflicts.h"

namespace {

constexpr const char* kClaims = "v1/PersistentVolumeClaim";

bool IsReadWriteOncePod(const berth_object& claim) {
  const berth::Value modes = berth::Value(claim.value)["spec"]["accessModes"];
  return std::any_of(modes.begin(), modes.end(), [](const berth::Value& mode) {
    return mode.AsString() == "ReadWriteOncePod";
  });
}

bool Uses(berth::Pod pod, std::string_view claim) {
  const auto volumes = pod.volumes();
  return std::any_of(volumes.begin(), volumes.end(), [claim](const berth_volume& volume) {
    return volume.kind == BERTH_VOLUME_CLAIM && berth::Str(volume.source) == claim;
  });
}

class VolumeRestrictions : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects pods whose disks or ReadWriteOncePod claims other pods use.";
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS, BERTH_SERVICE_STRINGS};
  static constexpr std::array kKinds{kClaims};
  static constexpr std::array kPodFields{"/spec/volumes/awsElasticBlockStore",
                                         "/spec/volumes/gcePersistentDisk", "/spec/volumes/iscsi",
                                         "/spec/volumes/rbd"};
  static constexpr berth::Reasons kReasons{
      "node(s) had no available disk",
      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
      "in-use by another pod"};
  enum Reason : int { kNoDisk, kClaimInUse };
  // The State holds whether a claim is in use on any node, and SignFilter() covers it.
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNodePods,
                                                       .pod_parts = BERTH_PART(VOLUMES)};
  using Node = berth::NodeRow<Columns>;

  struct State {
    restrictions::Disks disks;             // The restricted volumes of the pod.
    berth::Positions<std::string> claims;  // The ReadWriteOncePod claims of the pod.
    int64_t uses = 0;                      // The number of uses of `claims` by pods on nodes.
  };

  explicit VolumeRestrictions(berth::Host host) : host_(host) {}

  void OnChange(const berth::Change& change) { in_use_.OnChange(change); }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const berth::Pod pod = cycle.pod();
    State& state = cycle.Emplace<State>();
    for (const berth_volume& volume : pod.volumes()) {
      if (volume.kind != BERTH_VOLUME_CLAIM) continue;
      const std::string_view name = berth::Str(volume.source);
      const berth_object* const claim = host_.objects().Get(kClaims, host_.Text(pod.ns()), name);
      if (claim == nullptr) {
        return berth::Status::Unresolvable(berth::NotFoundText("persistentvolumeclaim", name));
      }
      if (!IsReadWriteOncePod(*claim)) continue;
      const std::size_t known = state.claims.size();
      if (state.claims.Use(std::string(name)) == known) {
        state.uses += in_use_.Count(pod.ns(), name);
      }
    }
    state.disks = restrictions::Disks(pod);
    if (state.disks.empty() && state.uses == 0) return berth::Status::Skip();
    return berth::Status::Success();
  }

  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& /*node*/) {
    State& state = cycle.State<State>();
    state.uses += UsesOf(state, cycle.pod(), pod);
    return berth::Status::Success();
  }

  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& /*node*/) {
    State& state = cycle.State<State>();
    state.uses -= UsesOf(state, cycle.pod(), pod);
    return berth::Status::Success();
  }

  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    return host_.NewSigner().Add(cycle.State<State>().uses > 0).Take();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    if (!state.disks.empty()) {
      for (const berth_pod* other : node.pods()) {
        if (state.disks.Conflict(*other)) return berth::Unschedulable(kNoDisk);
      }
    }
    // The node is not unresolvable, because preemption may remove the other pod.
    return berth::UnschedulableIf(state.uses > 0, kClaimInUse);
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    constexpr uint64_t kParts = BERTH_PART(NAMESPACE) | BERTH_PART(VOLUMES);
    return {
        {.resource = BERTH_RESOURCE_POD_ANY, .actions = BERTH_ACTION_DELETE, .pod_parts = kParts},
        // Removing a node also removes its pods and their uses of claims.
        {.resource = BERTH_RESOURCE_NODE,
         .actions = BERTH_ACTION_ADD | BERTH_ACTION_DELETE,
         .always = true},
        {.resource = BERTH_RESOURCE_PVC, .actions = BERTH_ACTION_ADD, .pod_parts = kParts}};
  }

  // Returns kQueue for a deleted pod that shared a disk or claim with the rejected pod, for an
  // added claim that the rejected pod uses, and for every node event.
  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    const berth::Pod pod = *queued.pod;
    bool helps = true;
    if (const berth_object* const claim = berth::ObjectIn(event.after)) {
      helps = claim->meta->ns == pod.ns() && Uses(pod, berth::Str(claim->meta->name));
    } else if (const berth_pod* const gone = berth::PodIn(event.before)) {
      helps = restrictions::Disks(pod).Conflict(*gone) || SharesClaim(pod, *gone);
    }
    return helps ? berth::QueueingHint::kQueue : berth::QueueingHint::kSkip;
  }

 private:
  // Returns how many volumes of `other` use ReadWriteOncePod claims of the pod to schedule.
  static int64_t UsesOf(const State& state, berth::Pod pod, berth::Pod other) {
    if (other.ns() != pod.ns()) return 0;
    int64_t uses = 0;
    for (const berth_volume& volume : other.volumes()) {
      if (volume.kind != BERTH_VOLUME_CLAIM) continue;
      const std::size_t place = state.claims.Find(std::string(berth::Str(volume.source)));
      uses += place == berth::Positions<std::string>::kNone ? 0 : 1;
    }
    return uses;
  }

  // Returns whether both pods use the same claim. Ignores its access modes, which may have been
  // different when the pod was rejected.
  static bool SharesClaim(berth::Pod pod, berth::Pod other) {
    if (other.ns() != pod.ns()) return false;
    berth::Positions<std::string_view> claims;
    for (const berth_volume& volume : pod.volumes()) {
      if (volume.kind == BERTH_VOLUME_CLAIM) claims.Use(berth::Str(volume.source));
    }
    const auto volumes = other.volumes();
    return std::any_of(volumes.begin(), volumes.end(), [&claims](const berth_volume& volume) {
      return volume.kind == BERTH_VOLUME_CLAIM &&
             claims.Find(berth::Str(volume.source)) != berth::Positions<std::string_view>::kNone;
    });
  }

  berth::Host host_;
  restrictions::ClaimsInUse in_use_;
};

}  // namespace

BERTH_PLUGIN(VolumeRestrictions)
