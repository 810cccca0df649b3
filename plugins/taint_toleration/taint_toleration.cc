// TaintToleration: rejects nodes with taints that the pod does not tolerate, and gives a lower
// score to nodes with untolerated PreferNoSchedule taints.
// kube-scheduler: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

using Tolerations = berth::Span<const berth_toleration>;

class TaintToleration : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "TaintToleration";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects nodes with untolerated taints, and prefers nodes with few PreferNoSchedule taints.";
  static constexpr std::array kPodFields{"/spec/tolerations"};
  static constexpr berth::Reasons kReasons{"node(s) had untolerated taint(s)"};
  enum Reason : int { kUntolerated };
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode,
                                                       .pod_parts = BERTH_PART(TOLERATIONS)};
  static constexpr berth::Dependence kScoreDependence = kFilterDependence;
  static constexpr berth::Normalize kNormalize = berth::Normalize::kMaxReversed;
  using Columns = berth::Columns<berth::TaintsHard, berth::TaintsSoft, berth::Taints>;
  using Node = berth::NodeRow<Columns>;

  struct State {
    std::vector<berth_toleration> soft;  // Tolerations that apply to PreferNoSchedule taints.
  };

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    if (node[berth::TaintsHard{}] == 0) return berth::kPass;
    const berth_taint* const untolerated =
        berth::FindUntolerated(node[berth::Taints{}], cycle.pod().tolerations());
    return berth::UnresolvableIf(untolerated != nullptr, kUntolerated);
  }

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    State& state = cycle.Emplace<State>();
    for (const berth_toleration& toleration : cycle.pod().tolerations()) {
      if (toleration.effect == 0 || toleration.effect == BERTH_EFFECT_PREFER_NO_SCHEDULE) {
        state.soft.push_back(toleration);
      }
    }
    return berth::Status::Success();
  }

  // Returns the number of PreferNoSchedule taints that the pod does not tolerate.
  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    const uint32_t count = node[berth::TaintsSoft{}];
    if (count == 0) return 0;
    const State* const state = cycle.TryState<State>();
    if (state == nullptr) return CountUntoleratedSoftTaints(node, cycle.pod().tolerations());
    if (state->soft.empty()) return count;
    return CountUntoleratedSoftTaints(
        node, Tolerations(state->soft.data(), static_cast<uint32_t>(state->soft.size()),
                          sizeof(berth_toleration)));
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_NODE,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_TAINT,
             .pod_parts = BERTH_PART(TOLERATIONS)},
            {.resource = BERTH_RESOURCE_TARGET_POD,
             .actions = BERTH_ACTION_UPDATE_POD_TOLERATION,
             .always = true}};
  }

  // Returns kQueue for a node whose taints the pod tolerates now and did not tolerate before, and
  // for every change of the pod's tolerations.
  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event) {
    const berth_node* const now = berth::NodeIn(event.after);
    if (now == nullptr) return berth::QueueingHint::kQueue;
    const berth_node* const before = berth::NodeIn(event.before);
    const bool helps = !IsUntolerated(*now, *queued.pod) &&
                       (before == nullptr || IsUntolerated(*before, *queued.pod));
    return helps ? berth::QueueingHint::kQueue : berth::QueueingHint::kSkip;
  }

 private:
  static bool IsUntolerated(berth::NodeView node, berth::Pod pod) {
    return berth::FindUntolerated(node.taints(), pod.tolerations()) != nullptr;
  }

  static int64_t CountUntoleratedSoftTaints(const Node& node, Tolerations tolerations) {
    int64_t count = 0;
    for (const berth_taint& taint : node[berth::Taints{}]) {
      if (taint.effect != BERTH_EFFECT_PREFER_NO_SCHEDULE) continue;
      count += berth::ToleratesAny(tolerations, taint) ? 0 : 1;
    }
    return count;
  }
};

}  // namespace

BERTH_PLUGIN(TaintToleration)
