// One plugin in two versions, of which one takes the other's place while the host works: the first
// refuses every node, the second none.
#include <string_view>

#include <berth/plugin.h>

namespace {

class Door : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Door";
  static constexpr std::string_view kVersion = BERTH_DOOR_IS_OPEN ? "2.0.0" : "1.0.0";
  static constexpr std::string_view kAbout = "Lets every pod in, or none.";
  static constexpr berth::Reasons kReasons{"the door is shut"};
  using Node = berth::NodeRow<berth::Columns<>>;

  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return BERTH_DOOR_IS_OPEN ? berth::kPass : berth::Unschedulable(0);
  }
};

}  // namespace

BERTH_PLUGIN(Door)
