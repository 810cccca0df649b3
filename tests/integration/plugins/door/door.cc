// A plugin in two versions, for tests that replace one version by the other while the host runs.
// Version 1 rejects every node. Version 2 accepts every node, or only the node that its arguments
// name.
#include <string>
#include <string_view>

#include <berth/plugin.h>

namespace {

class Door : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Door";
  static constexpr std::string_view kVersion = BERTH_DOOR_IS_OPEN ? "2.0.0" : "1.0.0";
  static constexpr std::string_view kAbout = "Accepts every node or none.";
  static constexpr berth::Reasons kReasons{"the door is shut", "the door is elsewhere"};
  enum Reason : int { kShut, kElsewhere };
  struct Args {
    std::string node;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("node", &Args::node, "The only node that is accepted; empty accepts all nodes."));
  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;

  Door(const berth::Host& host, const Args& args)
      : node_(args.node.empty() ? BERTH_ID_NONE : host.Intern(args.node)) {}

  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& node) const {
    if (!BERTH_DOOR_IS_OPEN) return berth::Unschedulable(kShut);
    const bool is_elsewhere = node_ != BERTH_ID_NONE && node[berth::NodeName{}] != node_;
    return berth::UnschedulableIf(is_elsewhere, kElsewhere);
  }

 private:
  const berth_id node_;
};

}  // namespace

BERTH_PLUGIN(Door)
