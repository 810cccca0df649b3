// Tracks the reservations of plugins, from the calls that the plugins log.
#ifndef BERTH_TESTS_SIMULATION_RESERVATIONS_H_
#define BERTH_TESTS_SIMULATION_RESERVATIONS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// Checks the host's contract of Reserve: Reserve is called once for each plugin, and then either
// PostBind or Unreserve is called once. Unreserve is called in reverse order. If Reserve fails,
// Unreserve is also called for the later plugins, whose Reserve was not called.
class Reservations {
 public:
  // `quarantine`: Reserve may fail because a plugin is in quarantine, without any call of Reserve.
  // Unreserve is then called for all plugins.
  explicit Reservations(bool quarantine) : quarantine_(quarantine) {}

  // Records a call. `what` is "Reserve", "Reserved" (Reserve succeeded), "Unreserve" or "PostBind".
  // Returns: a description of the violation, or an empty string.
  std::string Record(std::string_view plugin, std::string_view what, std::string_view uid);
  // Returns a finding about a reservation that was not released, or an empty string.
  std::string FindUnreleased() const;

 private:
  enum class State { kReserving, kReserved, kReleased };
  struct PluginState {
    std::string plugin;
    State state = State::kReserving;
  };
  using PluginStates = std::vector<PluginState>;  // In the order of the Reserve calls.

  std::string OnUnreserve(PluginStates& states, std::string_view plugin) const;

  const bool quarantine_;
  std::map<std::string, PluginStates, std::less<>> pods_;  // Keyed by uid.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_RESERVATIONS_H_
