// Holds pods back until all their scheduling gates are gone.
// kube-scheduler: pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

class SchedulingGates : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "SchedulingGates";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Holds pods back that have scheduling gates.";
  static constexpr std::array kPodFields{"/spec/schedulingGates"};

  berth::Status PreEnqueue(const berth::Pod& pod) {
    if (pod.scheduling_gates().empty()) return berth::Status::Success();
    std::string reason = "waiting for scheduling gates: [";
    const char* before = "";
    for (const berth_str& gate : pod.scheduling_gates()) {
      reason.append(before).append(berth::Str(gate));
      before = " ";
    }
    return berth::Status::Unresolvable(reason + "]");
  }

  // The last gate of the pod itself has gone. Gates can only go, and one that is left holds it.
  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED}};
  }
};

}  // namespace

BERTH_PLUGIN(SchedulingGates)
