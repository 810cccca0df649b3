// VolumeZone: rejects nodes outside the zones and regions of the pod's volumes.
// kube-scheduler: pkg/scheduler/framework/plugins/volumezone/volume_zone.go
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/claims.h>
#include <berth/plugin.h>

namespace {

constexpr const char* kClaims = "v1/PersistentVolumeClaim";
constexpr const char* kVolumes = "v1/PersistentVolume";
constexpr const char* kClasses = "storage.k8s.io/v1/StorageClass";

using Zone = berth::Label<"topology.kubernetes.io/zone">;
using Region = berth::Label<"topology.kubernetes.io/region">;
using BetaZone = berth::Label<"failure-domain.beta.kubernetes.io/zone">;
using BetaRegion = berth::Label<"failure-domain.beta.kubernetes.io/region">;

enum Key : size_t { kBetaZone, kBetaRegion, kZone, kRegion, kKeys };
constexpr std::array<std::string_view, kKeys> kKeyTexts{
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region"};

// The requirement of one label of one volume: the node's label must have one of the values.
struct Topology {
  Key key = kZone;
  std::vector<std::string_view> values;  // Sorted. They point into the volume's strings.

  friend bool operator==(const Topology&, const Topology&) = default;
};

// Splits "a__b" into a and b, sorted and without duplicates. Returns no values if a part is empty:
// the label is then ignored.
// k8s.io/cloud-provider/volume/helpers: LabelZonesToSet
std::vector<std::string_view> SplitZones(std::string_view text) {
  constexpr std::string_view kDelimiter = "__";
  std::vector<std::string_view> zones;
  while (true) {
    const size_t end = text.find(kDelimiter);
    zones.push_back(text.substr(0, end));
    if (zones.back().empty()) return {};
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + kDelimiter.size());
  }
  std::sort(zones.begin(), zones.end());
  zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
  return zones;
}

std::vector<Topology> TopologiesOf(berth::Value volume) {
  std::vector<Topology> topologies;
  const berth::Value labels = volume["metadata"]["labels"];
  for (size_t key = 0; key < kKeys; ++key) {
    Topology topology{static_cast<Key>(key), SplitZones(labels[kKeyTexts[key]].AsString())};
    if (!topology.values.empty()) topologies.push_back(std::move(topology));
  }
  return topologies;
}

class VolumeZone : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "VolumeZone";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects nodes outside the zone or region of the pod's volumes.";
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS, BERTH_SERVICE_STRINGS};
  static constexpr std::array kKinds{kClaims, kVolumes, kClasses};
  static constexpr berth::Reasons kReasons{"node(s) had no available volume zone"};
  enum Reason : int { kConflict };
  // Apart from the node, the result depends only on the State, which SignFilter() hashes.
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode, .pod_parts = 0};
  using Columns = berth::Columns<BetaZone, BetaRegion, Zone, Region>;
  using Node = berth::NodeRow<Columns>;

  // A Topology with interned values.
  struct Wanted {
    Key key = kZone;
    std::vector<berth_id> values;
  };
  struct State {
    std::vector<Wanted> wanted;
  };

  explicit VolumeZone(berth::Host host) : host_(host) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    State& state = cycle.Emplace<State>();
    for (const berth_volume& volume : cycle.pod().volumes()) {
      if (volume.kind != BERTH_VOLUME_CLAIM) continue;
      berth::Status status = AddClaim(cycle.pod(), berth::Str(volume.source), state);
      if (!status.ok()) return status;
    }
    return state.wanted.empty() ? berth::Status::Skip() : berth::Status::Success();
  }

  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    berth::Signer signer = host_.NewSigner();
    for (const Wanted& wanted : cycle.State<State>().wanted) {
      signer.Add(wanted.key).Add(wanted.values);
    }
    return signer.Take();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    if (cycle.pod().volumes().empty()) return berth::kPass;
    const State& state = cycle.State<State>();
    const std::array<berth_id, kKeys> labels{node[BetaZone{}], node[BetaRegion{}], node[Zone{}],
                                             node[Region{}]};
    // A node without any of the labels is accepted: clusters with a single zone may omit them.
    const bool labelled = std::any_of(labels.begin(), labels.end(),
                                      [](berth_id value) { return value != BERTH_ID_NONE; });
    if (!labelled) return berth::kPass;
    for (const Wanted& wanted : state.wanted) {
      // If the volume has a beta label and the node does not, uses the node's GA label.
      constexpr std::array kSuccessor{kZone, kRegion, kZone, kRegion};
      berth_id value = labels[wanted.key];
      if (value == BERTH_ID_NONE) value = labels[kSuccessor[wanted.key]];
      const auto& values = wanted.values;
      if (std::find(values.begin(), values.end(), value) == values.end()) {
        return berth::Unresolvable(kConflict);
      }
    }
    return berth::kPass;
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    // The hints for StorageClasses and PersistentVolumes do not depend on the rejected pod. They
    // still name pod parts, so that the host calls the hint only once for pods with equal parts.
    constexpr uint64_t kParts = BERTH_PART(NAMESPACE) | BERTH_PART(VOLUMES);
    constexpr uint32_t kAddOrUpdate = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE;
    return {{.resource = BERTH_RESOURCE_STORAGE_CLASS,
             .actions = BERTH_ACTION_ADD,
             .pod_parts = kParts},
            {.resource = BERTH_RESOURCE_NODE,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL,
             .always = true},
            {.resource = BERTH_RESOURCE_PVC, .actions = kAddOrUpdate, .pod_parts = kParts},
            {.resource = BERTH_RESOURCE_PV, .actions = kAddOrUpdate, .pod_parts = kParts}};
  }

  // Returns kQueue for an added class with WaitForFirstConsumer, for a claim that the pod uses, for
  // an added volume, for a volume whose zones changed, and for every node event.
  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    const berth_object* const now = berth::ObjectIn(event.after);
    if (now == nullptr) return berth::QueueingHint::kQueue;
    const berth::Value after(now->value);
    bool helps = true;
    switch (event.resource) {
      case BERTH_RESOURCE_STORAGE_CLASS:
        helps = after["volumeBindingMode"].AsString() == "WaitForFirstConsumer";
        break;
      case BERTH_RESOURCE_PVC: helps = Uses(*queued.pod, *now); break;
      case BERTH_RESOURCE_PV: {
        const berth::Value before = berth::ValueOf(berth::ObjectIn(event.before));
        helps = before.absent() || TopologiesOf(before) != TopologiesOf(after);
        break;
      }
      default: break;
    }
    return helps ? berth::QueueingHint::kQueue : berth::QueueingHint::kSkip;
  }

 private:
  static bool Uses(berth::Pod pod, const berth_object& claim) {
    if (claim.meta->ns != pod.ns()) return false;
    const auto volumes = pod.volumes();
    return std::any_of(volumes.begin(), volumes.end(), [&claim](const berth_volume& volume) {
      return volume.kind == BERTH_VOLUME_CLAIM &&
             berth::Str(volume.source) == berth::Str(claim.meta->name);
    });
  }

  berth::Status AddClaim(berth::Pod pod, std::string_view name, State& state) {
    if (name.empty()) return berth::Status::Unresolvable("PersistentVolumeClaim had no name");
    const berth_object* const claim = host_.objects().Get(kClaims, host_.Text(pod.ns()), name);
    if (claim == nullptr) {
      return berth::Status::Unresolvable(berth::NotFoundText("persistentvolumeclaim", name));
    }
    const std::string_view volume_name = berth::ValueOf(claim)["spec"]["volumeName"].AsString();
    if (volume_name.empty()) return CheckUnbound(berth::ValueOf(claim));
    const berth_object* const volume = host_.objects().Get(kVolumes, {}, volume_name);
    if (volume == nullptr) {
      return berth::Status::Unresolvable(berth::NotFoundText("persistentvolume", volume_name));
    }
    for (const Topology& topology : TopologiesOf(berth::ValueOf(volume))) Add(topology, state);
    return berth::Status::Success();
  }

  // Checks a claim without a volume. It is accepted if its class has WaitForFirstConsumer;
  // otherwise the pod must wait until the claim is bound.
  berth::Status CheckUnbound(berth::Value claim) const {
    const std::string_view name = berth::ClaimClass(claim);
    if (name.empty()) {
      return berth::Status::Unresolvable(
          "PersistentVolumeClaim had no pv name and storageClass name");
    }
    const berth_object* const found = host_.objects().Get(kClasses, {}, name);
    if (found == nullptr) {
      return berth::Status::Unresolvable(berth::NotFoundText("storageclass.storage.k8s.io", name));
    }
    const berth::Value mode = berth::ValueOf(found)["volumeBindingMode"];
    if (mode.absent()) {
      return berth::Status::Unresolvable("VolumeBindingMode not set for StorageClass \"" +
                                         std::string(name) + "\"");
    }
    if (mode.AsString() == "WaitForFirstConsumer") return berth::Status::Success();
    return berth::Status::Unresolvable("PersistentVolume had no name");
  }

  void Add(const Topology& topology, State& state) {
    Wanted wanted{topology.key, {}};
    for (const std::string_view value : topology.values) {
      // Interns the value, so that the id outlives the volume. The plugin keeps the id until it is
      // destroyed; this needs little memory, because a cluster has few zones.
      wanted.values.push_back(host_.Intern(value));
    }
    state.wanted.push_back(std::move(wanted));
  }

  berth::Host host_;
};

}  // namespace

BERTH_PLUGIN(VolumeZone)
