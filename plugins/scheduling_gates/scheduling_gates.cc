// SchedulingGates: keeps pods out of the active queue while they have scheduling gates.
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
  static constexpr std::string_view kAbout =
      "Keeps pods with scheduling gates out of the active queue.";
  static constexpr std::array kPodFields{"/spec/schedulingGates"};

  berth::Status PreEnqueue(const berth::Pod& pod) {
    if (pod.scheduling_gates().empty()) return berth::Status::Success();
    std::string reason = "waiting for scheduling gates: [";
    const char* separator = "";
    for (const berth_str& gate : pod.scheduling_gates()) {
      reason.append(separator).append(berth::Str(gate));
      separator = " ";
    }
    return berth::Status::Unresolvable(reason + "]");
  }

  // Registers for the removal of the pod's last gate. Gates can only be removed, and one remaining
  // gate is enough to reject the pod.
  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED}};
  }
};

}  // namespace

BERTH_PLUGIN(SchedulingGates)
