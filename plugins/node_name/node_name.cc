// NodeName: rejects every node except the one that the pod names in spec.nodeName.
// kube-scheduler: pkg/scheduler/framework/plugins/nodename/node_name.go
#include <array>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

// Returns whether PreFilter limits the attempt to the node that the pod names.
// 1.36: no. kube-scheduler's plugin has no PreFilter, and Filter rejects each of the other nodes.
// 1.37: yes. The host rejects the other nodes, with a text of its own, and preemption ignores them.
// kube-scheduler: nodename/node_name.go, PreFilter; kubernetes/kubernetes#140000
constexpr bool NamesNodeInPreFilter(berth::KubeVersion version) {
  return version >= berth::KubeVersion{1, 37};
}

class NodeName : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeName";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects every node except the one that the pod names.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS};
  static constexpr std::array kPodFields{"/spec/nodeName"};
  static constexpr berth::Reasons kReasons{"node(s) didn't match the requested node name"};
  enum Reason : int { kOtherNode };
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode,
                                                       .pod_parts = BERTH_PART(NODE_NAME)};
  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;

  explicit NodeName(const berth::Host& host)
      : host_(host), names_node_(NamesNodeInPreFilter(host.emulated_version())) {}

  // Skips pods that may run on any node. kube-scheduler instead runs Filter, which accepts every
  // node.
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& out) {
    const berth_id wanted = cycle.pod()->node_name;
    if (wanted == BERTH_ID_NONE) return berth::Status::Skip();
    if (names_node_) out.OnlyNodes(std::array{host_.Text(wanted)});
    return berth::Status::Success();
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const berth_id wanted = cycle.pod()->node_name;
    return berth::UnresolvableIf(wanted != BERTH_ID_NONE && wanted != node[berth::NodeName{}],
                                 kOtherNode);
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_NODE, BERTH_ACTION_ADD}};
  }

 private:
  const berth::Host host_;
  const bool names_node_;
};

}  // namespace

BERTH_PLUGIN(NodeName)
