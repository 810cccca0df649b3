// NodeDeclaredFeatures: rejects nodes whose kubelet does not declare a feature that the pod needs.
// kube-scheduler: pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go,
// component-helpers: nodedeclaredfeatures/features
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

bool RestartsAll(berth::Pod pod) {
  const auto restarts = [](const berth_container& container) {
    return (container.flags & BERTH_CONTAINER_RESTARTS_ALL) != 0;
  };
  return std::any_of(pod.containers().begin(), pod.containers().end(), restarts) ||
         std::any_of(pod.init_containers().begin(), pod.init_containers().end(), restarts);
}

bool MapsUsersOnHostNetwork(berth::Pod pod) {
  constexpr uint32_t kBoth = BERTH_POD_HOST_NETWORK | BERTH_POD_HOST_USERS_FALSE;
  return (pod->flags & kBoth) == kBoth;
}

bool HasBindMountOptions(berth::Pod pod) {
  return (pod->flags & BERTH_POD_HAS_BIND_MOUNT_OPTIONS) != 0;
}

// A feature that kube-scheduler infers from the spec of a pending pod. A kubelet of any version may
// lack these features.
struct Feature {
  std::string_view name;
  bool (*is_needed)(berth::Pod pod);
};
constexpr std::array kFeatures{
    Feature{"RestartAllContainersOnContainerExits", &RestartsAll},
    Feature{"UserNamespacesHostNetworkSupport", &MapsUsersOnHostNetwork},
    Feature{"VolumeBindMountOptions", &HasBindMountOptions},
};

// Returns how many features kube-scheduler infers: the first ones of kFeatures.
// 1.36: the first two.
// 1.37: also VolumeBindMountOptions (kubernetes/kubernetes#140013). Its other new features are
//       never inferred for scheduling.
// component-helpers: nodedeclaredfeatures/features/registry.go, InferForScheduling of each feature
constexpr std::size_t CountFeatures(berth::KubeVersion version) {
  return version >= berth::KubeVersion{1, 37} ? 3 : 2;
}
static_assert(CountFeatures(berth::kNewestKubeVersion) == kFeatures.size());

// Returns the features that the pod needs, of the first `count`. Bit i stands for kFeatures[i].
uint64_t FeaturesOf(berth::Pod pod, std::size_t count) {
  uint64_t features = 0;
  for (std::size_t i = 0; i < count; ++i) {
    features |= uint64_t{kFeatures[i].is_needed(pod)} << i;
  }
  return features;
}

class NodeDeclaredFeatures : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeDeclaredFeatures";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects nodes that do not declare a feature that the pod needs.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS};
  static constexpr berth::Reasons kReasons{"node(s) didn't match Pod's required features"};
  enum Reason : int { kLacksFeature };
  // SignFilter() covers everything in the pod that Filter depends on, so no pod parts are declared.
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode, .pod_parts = 0};
  using Columns = berth::Columns<berth::Features>;
  using Node = berth::NodeRow<Columns>;

  struct State {
    std::size_t count = 0;  // The length of `needed`.
    std::array<berth_id, kFeatures.size()> needed = {};
  };

  explicit NodeDeclaredFeatures(const berth::Host& host)
      : host_(host), count_(CountFeatures(host.emulated_version())) {
    for (std::size_t i = 0; i < count_; ++i) ids_[i] = host.Intern(kFeatures[i].name);
  }

  // Skips pods that need no feature.
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const uint64_t features = FeaturesOf(cycle.pod(), count_);
    if (features == 0) return berth::Status::Skip();
    State& state = cycle.Emplace<State>();
    for (std::size_t i = 0; i < count_; ++i) {
      if ((features >> i & 1) != 0) state.needed[state.count++] = ids_[i];
    }
    return berth::Status::Success();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    const auto declared = node[berth::Features{}];
    bool lacks = false;
    for (std::size_t i = 0; i < state.count; ++i) {
      lacks |= std::find(declared.begin(), declared.end(), state.needed[i]) == declared.end();
    }
    return berth::UnresolvableIf(lacks, kLacksFeature);
  }

  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    return host_.NewSigner().Add(FeaturesOf(cycle.pod(), count_)).Take();
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_NODE,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE,
             .always = true},
            {.resource = BERTH_RESOURCE_TARGET_POD,
             .actions = BERTH_ACTION_UPDATE,
             .pod_parts = BERTH_PART(CONTAINERS) | BERTH_PART(RUNTIME)}};
  }

  // Returns kSkip only for an update of the pod that does not change the features that it needs.
  berth::QueueingHint Hint(const berth::Queued& /*queued*/, const berth::Event& event) {
    const berth_pod* const before = berth::PodIn(event.before);
    const berth_pod* const now = berth::PodIn(event.after);
    if (before == nullptr || now == nullptr) return berth::QueueingHint::kQueue;
    return FeaturesOf(*before, count_) != FeaturesOf(*now, count_) ? berth::QueueingHint::kQueue
                                                                   : berth::QueueingHint::kSkip;
  }

 private:
  const berth::Host host_;
  const std::size_t count_;  // The number of features that are inferred.
  std::array<berth_id, kFeatures.size()> ids_ = {};
};

}  // namespace

BERTH_PLUGIN(NodeDeclaredFeatures)
