#include "host/process/assemble/decision_line.h"

#include <array>
#include <cstddef>

#include <nlohmann/json.hpp>

namespace berth::host {

std::string_view DecisionTypeName(DecisionType type) {
  constexpr std::array<std::string_view, 6> kNames = {"Bound",   "Refused", "Error",
                                                      "Skipped", "Waiting", "Gated"};
  return kNames[static_cast<size_t>(type)];
}

nlohmann::ordered_json ToJson(const DecisionLine& line) {
  nlohmann::ordered_json json = {{"time", static_cast<double>(line.time_ns) / 1e9},
                                 {"type", DecisionTypeName(line.type)},
                                 {"pod", line.pod}};
  if (!line.node.empty()) json["node"] = line.node;
  if (!line.message.empty()) json["message"] = line.message;
  return json;
}

}  // namespace berth::host
