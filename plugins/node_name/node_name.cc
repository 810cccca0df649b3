// NodeName: rejects every node except the one that the pod names in spec.nodeName.
// kube-scheduler: pkg/scheduler/framework/plugins/nodename/node_name.go
#include <array>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

class NodeName : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "NodeName";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects every node except the one that the pod names.";
  static constexpr std::array kPodFields{"/spec/nodeName"};
  static constexpr berth::Reasons kReasons{"node(s) didn't match the requested node name"};
  enum Reason : int { kOtherNode };
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kNode,
                                                       .pod_parts = BERTH_PART(NODE_NAME)};
  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const berth_id wanted = cycle.pod()->node_name;
    return berth::UnresolvableIf(wanted != BERTH_ID_NONE && wanted != node[berth::NodeName{}],
                                 kOtherNode);
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_NODE, BERTH_ACTION_ADD}};
  }
};

}  // namespace

BERTH_PLUGIN(NodeName)
