#include "tests/simulation/reservations.h"

#include <algorithm>

namespace berth::host {

std::string Reservations::Note(std::string_view plugin, std::string_view what,
                               std::string_view uid) {
  Parts& parts = pods_[std::string(uid)];
  const auto part = std::ranges::find(parts, plugin, &Part::plugin);
  std::string wrong;
  if (what == "Reserve") {
    if (part != parts.end()) wrong = "is asked to reserve twice";
    parts.push_back({std::string(plugin), State::kAsked});
  } else if (what == "Reserved") {
    if (part != parts.end()) part->state = State::kReserved;
  } else if (what == "Unreserve") {
    wrong = OnUnreserve(parts, plugin);
  } else if (what == "PostBind") {
    if (part == parts.end() || part->state != State::kReserved) {
      wrong = "is told of a binding that it has not reserved for";
    } else {
      parts.erase(part);
    }
  }
  const bool is_over = std::ranges::all_of(
      parts, [](const Part& other) { return other.state == State::kGivenBack; });
  if (is_over) pods_.erase(pods_.find(uid));
  if (wrong.empty()) return wrong;
  return std::string(plugin).append(" ").append(wrong).append(": ").append(uid);
}

std::string Reservations::OnUnreserve(Parts& parts, std::string_view plugin) const {
  const auto part = std::ranges::find(parts, plugin, &Part::plugin);
  if (part == parts.end()) {
    const bool has_failed =
        std::ranges::any_of(parts, [](const Part& other) { return other.state == State::kAsked; });
    // First, so that it does not count as one that was asked after the others.
    parts.insert(parts.begin(), {std::string(plugin), State::kGivenBack});
    return has_failed || quarantine_ ? "" : "is to give back what it has not reserved";
  }
  if (part->state == State::kGivenBack) return "is to give back twice";
  const bool is_last = std::all_of(
      part + 1, parts.end(), [](const Part& later) { return later.state == State::kGivenBack; });
  part->state = State::kGivenBack;
  return is_last ? "" : "is to give back before those that reserved after it";
}

std::string Reservations::StillHeld() const {
  if (pods_.empty()) return "";
  const auto& [uid, parts] = *pods_.begin();
  return parts.front().plugin + " still holds what it reserved for " + uid;
}

}  // namespace berth::host
