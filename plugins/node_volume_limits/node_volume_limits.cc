// NodeVolumeLimits: rejects nodes on which the pod's volumes would exceed the limit of a CSI
// driver.
// kube-scheduler: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/claims.h>
#include <berth/plugin.h>
#include <berth/positions.h>

#include "hints.h"
#include "in_tree.h"
#include "volume_index.h"

namespace {

using limits::Attachment;
using limits::Claim;
using limits::CsiNode;
using limits::InTree;
using limits::VolumeName;

bool IsClaim(const berth_volume& volume) {
  return volume.kind == BERTH_VOLUME_CLAIM || volume.kind == BERTH_VOLUME_EPHEMERAL;
}

class NodeVolumeLimits : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects nodes to which no more volumes of the pod's drivers can be attached.";
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS, BERTH_SERVICE_STRINGS};
  static constexpr std::array kKinds{limits::kClaims,   limits::kVolumes,    limits::kClasses,
                                     limits::kCsiNodes, limits::kCsiDrivers, limits::kAttachments};
  // The inline volumes that CSI drivers replace. VolumeBinding handles claims.
  static constexpr std::array kPodFields{"/spec/volumes/awsElasticBlockStore",
                                         "/spec/volumes/azureDisk",
                                         "/spec/volumes/azureFile",
                                         "/spec/volumes/cinder",
                                         "/spec/volumes/gcePersistentDisk",
                                         "/spec/volumes/portworxVolume",
                                         "/spec/volumes/vsphereVolume"};
  static constexpr berth::Reasons kReasons{"node(s) exceed max volume count"};
  enum Reason : int { kTooMany };
  // SignFilter() covers everything in the pod that Filter depends on, so no pod parts are declared.
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNodePods | berth::kOther,
                                                       .pod_parts = 0};
  using CsiNodeObject = berth::NodeObject<"storage.k8s.io/v1/CSINode">;
  using Columns = berth::Columns<CsiNodeObject>;
  using Node = berth::NodeRow<Columns>;

  // A volume of the pod. A volume that the pod uses several times has one entry.
  struct Wanted {
    std::string driver;
    std::string handle;
    berth_id ns = BERTH_ID_NONE;
    bool migrated = false;
    // The reason that rejects a node without the driver, if the driver must be installed.
    std::optional<int> missing_driver;

    VolumeName name() const { return {driver, handle, ns, migrated}; }
  };
  // A problem with the pod's volumes that rejects the pod on every node. The first one is reported.
  struct Problem {
    berth::Verdict verdict;
    std::string text;
  };
  struct State {
    std::vector<Wanted> wanted;
    berth::Positions<std::string> places;  // The elements of `wanted`.
    // The reasons that reject a node without a driver that must be installed, and their drivers.
    std::vector<int> missing_drivers;
    berth::Positions<std::string> must_be_installed;
    // The problem on nodes without a CSINode.
    Problem problem_without_csi_node;
    // The problem on nodes with a CSINode. There, in-tree volumes count as volumes of a CSI driver
    // and may have further problems.
    Problem problem_with_csi_node;
  };

  explicit NodeVolumeLimits(berth::Host host) : host_(host), index_(host) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all, berth::PreFilterOut& out) {
    State& state = cycle.Emplace<State>();
    bool any = false;
    for (const berth_volume& volume : cycle.pod().volumes()) {
      if (!limits::MayCount(volume)) continue;
      any = true;
      if (IsClaim(volume)) {
        AddClaim(cycle.pod(), volume, state, out);
      } else {
        AddInTree(volume, state, out);
      }
    }
    index_.Note(NeedsOf(cycle.pod(), state, all));
    return any ? berth::Status::Success() : berth::Status::Skip();
  }

  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const {
    const State& state = cycle.State<State>();
    berth::Signer signer = host_.NewSigner();
    for (const Problem* problem : {&state.problem_without_csi_node, &state.problem_with_csi_node}) {
      signer.Add(problem->verdict.code).Add(problem->verdict.reasons).Add(problem->text);
    }
    // The numbers of reasons depend on the order of the pod's volumes, so they belong to the
    // signature.
    for (const Wanted& wanted : state.wanted) {
      signer.Add(wanted.driver).Add(wanted.handle).Add(host_.Text(wanted.ns));
      signer.Add(wanted.migrated).Add(wanted.missing_driver.has_value());
      signer.Add(wanted.missing_driver.value_or(0));
    }
    return signer.Take();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    if (cycle.pod().volumes().empty()) return berth::kPass;
    const State& state = cycle.State<State>();
    const CsiNode* const csi_node = index_.Read(node[CsiNodeObject{}]);
    const Problem& problem =
        csi_node == nullptr ? state.problem_without_csi_node : state.problem_with_csi_node;
    if (!problem.verdict.ok()) return problem.verdict;
    const berth::Verdict missing = FindMissingDriver(state, csi_node);
    if (!missing.ok() || csi_node == nullptr) return missing;
    return berth::UnschedulableIf(!HasRoom(state, *csi_node, node), kTooMany);
  }

  std::vector<berth::EventInterest> EventsToRegister() const { return limits::Interests(); }

  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    return limits::Helps(*queued.pod, event, host_.emulated_version()) ? berth::QueueingHint::kQueue
                                                                       : berth::QueueingHint::kSkip;
  }

 private:
  // ---- The kinds that the decision depends on ----

  limits::VolumeIndex::Needs NeedsOf(berth::Pod pod, const State& state, const berth::Nodes& all) {
    limits::VolumeIndex::Needs needs;
    AddNeeds(pod, needs);
    // A claim whose class or volume is missing may count, too.
    needs.limits = needs.claims || !state.wanted.empty();
    if (!needs.limits) return needs;
    // The volumes of other pods count as well.
    index_.AddNeedsOfClaims(needs);
    if (!index_.MayLackClaims() || walks_left_ == 0) return needs;
    --walks_left_;
    all.ForEach<Columns>([&](const Node& node) {
      for (const berth_pod* other : node.pods()) AddNeeds(*other, needs);
    });
    return needs;
  }

  void AddNeeds(berth::Pod pod, limits::VolumeIndex::Needs& needs) const {
    for (const berth_volume& volume : pod.volumes()) {
      if (!IsClaim(volume) || volume.source.len == 0) continue;
      limits::VolumeIndex::AddNeeds(index_.FindClaim(pod.ns(), berth::Str(volume.source)), needs);
    }
  }

  // ---- The pod ----

  static void AddProblem(Problem problem, State& state) {
    if (state.problem_with_csi_node.verdict.ok()) state.problem_with_csi_node = problem;
    if (state.problem_without_csi_node.verdict.ok()) {
      state.problem_without_csi_node = std::move(problem);
    }
  }

  void AddClaim(berth::Pod pod, const berth_volume& volume, State& state,
                berth::PreFilterOut& out) const {
    const std::string_view name = berth::Str(volume.source);
    const std::string ns(host_.Text(pod.ns()));
    if (name.empty()) {
      const char* const text = "PersistentVolumeClaim had no name";
      return AddProblem({berth::Failed(out.AddReason(text)), text}, state);
    }
    const std::string full_name = ns + "/" + std::string(name);
    const Claim* const claim = index_.FindClaim(pod.ns(), name);
    if (claim == nullptr) {
      const std::string text =
          "looking up PVC " + full_name + ": " + berth::NotFoundText("persistentvolumeclaim", name);
      return AddProblem({berth::Unresolvable(out.AddReason(text)), text}, state);
    }
    if (volume.kind == BERTH_VOLUME_EPHEMERAL && claim->controller != pod.uid()) {
      const std::string text = "PVC " + full_name + " was not created for pod " + ns + "/" +
                               std::string(pod.name()) + " (pod is not owner)";
      return AddProblem({berth::Failed(out.AddReason(text)), text}, state);
    }
    Add(index_.NameOf(*claim, pod.ns(), name), state, out);
  }

  void AddInTree(const berth_volume& volume, State& state, berth::PreFilterOut& out) const {
    const InTree& in_tree = *limits::FindByVolume(volume);
    if (!in_tree.counted) return;
    const std::optional<std::string> handle = limits::HandleOf(in_tree, volume);
    if (handle) return Add({in_tree.driver, *handle, BERTH_ID_NONE, true}, state, out);
    const std::string text = "converting volume(" + std::string(berth::Str(volume.name)) +
                             ") from inline to csi: no volume of " + std::string(in_tree.driver) +
                             " is called " + std::string(berth::Str(volume.source));
    if (!state.problem_with_csi_node.verdict.ok()) return;
    state.problem_with_csi_node = {berth::Failed(out.AddReason(text)), text};
  }

  void Add(const VolumeName& name, State& state, berth::PreFilterOut& out) const {
    if (name.driver.empty()) return;
    // No driver has a zero byte in its name, and the handle is last.
    const std::string text =
        std::string(name.driver) + '\0' + std::to_string(name.ns) + '\0' + std::string(name.handle);
    const std::size_t place = state.places.Use(text);
    if (place != state.wanted.size()) {
      Wanted& known = state.wanted[place];
      known.migrated = known.migrated && name.migrated;
      return;
    }
    Wanted wanted{std::string(name.driver), std::string(name.handle), name.ns, name.migrated, {}};
    if (index_.MustBeInstalled(name.driver))
      wanted.missing_driver = MissingDriver(name, state, out);
    state.wanted.push_back(std::move(wanted));
  }

  static int MissingDriver(const VolumeName& name, State& state, berth::PreFilterOut& out) {
    const std::size_t place = state.must_be_installed.Use(std::string(name.driver));
    if (place == state.missing_drivers.size()) {
      state.missing_drivers.push_back(
          out.AddReason(std::string(name.driver) + " CSI driver is not installed on the node"));
    }
    return state.missing_drivers[place];
  }

  // ---- The node ----

  // Rejects the node if a driver that must be installed on it is missing.
  static berth::Verdict FindMissingDriver(const State& state, const CsiNode* csi_node) {
    for (const Wanted& wanted : state.wanted) {
      if (!wanted.missing_driver || (csi_node == nullptr && wanted.migrated)) continue;
      if (csi_node == nullptr || csi_node->Find(wanted.driver) == nullptr) {
        return berth::Unschedulable(*wanted.missing_driver);
      }
    }
    return berth::kPass;
  }

  // A driver of the pod's volumes that has a limit on the node.
  struct Limited {
    std::string_view driver;
    int64_t limit;
    int64_t wanted;    // The pod's volumes that are not attached to the node yet.
    int64_t attached;  // The volumes that are attached to the node or used by its pods.
  };
  static Limited* FindLimited(std::vector<Limited>& all, std::string_view driver) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [driver](const Limited& l) { return l.driver == driver; });
    return found == all.end() ? nullptr : &*found;
  }

  static std::vector<Limited> LimitsFor(const State& state, const CsiNode& csi_node) {
    std::vector<Limited> all;
    for (const Wanted& wanted : state.wanted) {
      if (Limited* const known = FindLimited(all, wanted.driver)) {
        ++known->wanted;
        continue;
      }
      const CsiNode::Driver* const driver = csi_node.Find(wanted.driver);
      if (driver != nullptr && driver->limit) all.push_back({wanted.driver, *driver->limit, 1, 0});
    }
    return all;
  }

  bool HasRoom(const State& state, const CsiNode& csi_node, const Node& node) const {
    std::vector<Limited> all = LimitsFor(state, csi_node);
    if (all.empty()) return true;
    const auto attachments = index_.AttachmentsTo(node.view().name());
    if (IsFarFromFull(state, all, attachments.size(), node)) return true;
    std::deque<std::string> texts;  // Storage for handles that the index does not hold.
    std::vector<VolumeName> attached;
    const auto add = [&](const VolumeName& name) {
      if (FindLimited(all, name.driver) != nullptr) attached.push_back(name);
    };
    for (const berth_pod* pod : node.pods()) ForEachVolume(*pod, texts, add);
    for (const Attachment& attachment : attachments) add(index_.NameOf(attachment));
    std::sort(attached.begin(), attached.end());
    attached.erase(std::unique(attached.begin(), attached.end()), attached.end());
    for (const VolumeName& name : attached) ++FindLimited(all, name.driver)->attached;
    for (const Wanted& wanted : state.wanted) {
      Limited* const limited = FindLimited(all, wanted.driver);
      if (limited == nullptr) continue;
      limited->wanted -=
          std::binary_search(attached.begin(), attached.end(), wanted.name()) ? 1 : 0;
    }
    return std::all_of(all.begin(), all.end(), [](const Limited& limited) {
      return limited.wanted == 0 || limited.attached + limited.wanted <= limited.limit;
    });
  }

  // Returns true if there is room even when every volume on the node is a different volume of the
  // same driver. Then no volume needs to be looked up.
  static bool IsFarFromFull(const State& state, const std::vector<Limited>& all, size_t attachments,
                            const Node& node) {
    int64_t least = all.front().limit;
    for (const Limited& limited : all) least = std::min(least, limited.limit);
    auto most = static_cast<int64_t>(state.wanted.size() + attachments);
    for (const berth_pod* other : node.pods()) {
      if (most > least) return false;
      const berth::Pod pod = *other;
      for (const berth_volume& volume : pod.volumes()) most += limits::MayCount(volume) ? 1 : 0;
    }
    return most <= least;
  }

  // Calls `each` with the name of every volume of `pod`, which runs on a node with a CSINode.
  // Leaves out broken volumes (the claim does not exist, or belongs to another pod), so that they
  // do not keep other pods from the node. kube-scheduler instead fails the attempt of the pod to
  // schedule if a claim belongs to another pod.
  template <class Each>
  void ForEachVolume(berth::Pod pod, std::deque<std::string>& texts, Each each) const {
    for (const berth_volume& volume : pod.volumes()) {
      if (IsClaim(volume)) {
        const std::string_view name = berth::Str(volume.source);
        const Claim* const claim = index_.FindClaim(pod.ns(), name);
        const bool own = volume.kind == BERTH_VOLUME_CLAIM ||
                         (claim != nullptr && claim->controller == pod.uid());
        if (claim != nullptr && own) each(index_.NameOf(*claim, pod.ns(), name));
        continue;
      }
      const InTree* const in_tree = limits::FindByVolume(volume);
      if (in_tree == nullptr || !in_tree->counted) continue;
      std::optional<std::string> handle = limits::HandleOf(*in_tree, volume);
      if (!handle) continue;
      each({in_tree->driver, texts.emplace_back(*std::move(handle)), BERTH_ID_NONE, true});
    }
  }

  berth::Host host_;
  limits::VolumeIndex index_;
  // How often NeedsOf() may still look at all pods. Only a command that reads files uses the
  // result, and its first decisions show what is missing. A cluster without claims must not pay for
  // each pod.
  int walks_left_ = 64;
};

}  // namespace

BERTH_PLUGIN(NodeVolumeLimits)
