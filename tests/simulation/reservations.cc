#include "tests/simulation/reservations.h"

#include <algorithm>

namespace berth::host {

std::string Reservations::Record(std::string_view plugin, std::string_view what,
                                 std::string_view uid) {
  PluginStates& states = pods_[std::string(uid)];
  const auto found = std::ranges::find(states, plugin, &PluginState::plugin);
  std::string wrong;
  if (what == "Reserve") {
    if (found != states.end()) wrong = "got Reserve twice";
    states.push_back({std::string(plugin), State::kReserving});
  } else if (what == "Reserved") {
    if (found != states.end()) found->state = State::kReserved;
  } else if (what == "Unreserve") {
    wrong = OnUnreserve(states, plugin);
  } else if (what == "PostBind") {
    if (found == states.end() || found->state != State::kReserved) {
      wrong = "got PostBind without a reservation";
    } else {
      states.erase(found);
    }
  }
  const bool all_released = std::ranges::all_of(
      states, [](const PluginState& other) { return other.state == State::kReleased; });
  if (all_released) pods_.erase(pods_.find(uid));
  if (wrong.empty()) return wrong;
  return std::string(plugin).append(" ").append(wrong).append(": ").append(uid);
}

std::string Reservations::OnUnreserve(PluginStates& states, std::string_view plugin) const {
  const auto found = std::ranges::find(states, plugin, &PluginState::plugin);
  if (found == states.end()) {
    const bool has_failed = std::ranges::any_of(
        states, [](const PluginState& other) { return other.state == State::kReserving; });
    // Inserts it at the front, so that it does not count as called after the others.
    states.insert(states.begin(), {std::string(plugin), State::kReleased});
    return has_failed || quarantine_ ? "" : "got Unreserve without Reserve";
  }
  if (found->state == State::kReleased) return "got Unreserve twice";
  const bool is_last = std::all_of(found + 1, states.end(), [](const PluginState& later) {
    return later.state == State::kReleased;
  });
  found->state = State::kReleased;
  return is_last ? "" : "got Unreserve before plugins that reserved after it";
}

std::string Reservations::FindUnreleased() const {
  if (pods_.empty()) return "";
  const auto& [uid, states] = *pods_.begin();
  return states.front().plugin + " still holds a reservation for " + uid;
}

}  // namespace berth::host
