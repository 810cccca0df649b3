// NodeUnschedulable: rejects cordoned nodes, unless the pod tolerates them.
// kube-scheduler: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go
#include <array>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

class NodeUnschedulable : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects cordoned nodes, unless the pod tolerates node.kubernetes.io/unschedulable.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS};
  static constexpr berth::Reasons kReasons{"node(s) were unschedulable"};
  enum Reason : int { kUnschedulable };
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode,
                                                       .pod_parts = BERTH_PART(TOLERATIONS)};
  using Columns = berth::Columns<berth::NodeUnschedulable>;
  using Node = berth::NodeRow<Columns>;

  explicit NodeUnschedulable(const berth::Host& host)
      : taint_{.key = host.Intern("node.kubernetes.io/unschedulable"),
               .value = host.Intern(""),
               .effect = BERTH_EFFECT_NO_SCHEDULE,
               .reserved = 0} {}

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    if (node[berth::NodeUnschedulable{}] == 0) return berth::kPass;
    return berth::UnresolvableIf(!Tolerates(cycle.pod()), kUnschedulable);
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_NODE,
             .actions = BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_TAINT,
             .pod_parts = BERTH_PART(TOLERATIONS)},
            {.resource = BERTH_RESOURCE_TARGET_POD,
             .actions = BERTH_ACTION_UPDATE_POD_TOLERATION,
             .pod_parts = BERTH_PART(TOLERATIONS)}};
  }

  // Returns kQueue when a schedulable node is added, a node becomes schedulable, or the pod now
  // tolerates cordoned nodes.
  berth::QueueingHint Hint(const berth::Queued& /*queued*/, const berth::Event& event) {
    bool helps = true;
    if (const berth_node* const now = berth::NodeIn(event.after)) {
      const berth_node* const before = berth::NodeIn(event.before);
      helps = now->unschedulable == 0 && (before == nullptr || before->unschedulable != 0);
    } else if (const berth_pod* const pod = berth::PodIn(event.after)) {
      helps = Tolerates(*pod);
    }
    return helps ? berth::QueueingHint::kQueue : berth::QueueingHint::kSkip;
  }

 private:
  bool Tolerates(berth::Pod pod) const { return berth::ToleratesAny(pod.tolerations(), taint_); }

  // The taint that the node controller adds to cordoned nodes.
  const berth_taint taint_;
};

}  // namespace

BERTH_PLUGIN(NodeUnschedulable)
