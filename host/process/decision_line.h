// What a scheduler says of a pod: one line of its output.
#ifndef BERTH_HOST_PROCESS_DECISION_LINE_H_
#define BERTH_HOST_PROCESS_DECISION_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace berth::host {

enum class DecisionType : uint8_t {
  kBound,
  kRefused,
  kError,
  kSkipped,  // It is being deleted.
  kWaiting,  // A node was found; Permit holds the pod back.
  kGated,    // Not tried: PreEnqueue holds it back.
};

// "Bound"
std::string_view DecisionTypeName(DecisionType type);

struct DecisionLine {
  int64_t time_ns = 0;  // Since the start.
  DecisionType type = DecisionType::kBound;
  std::string pod;      // "default/web-0"
  std::string node;     // Empty: none.
  std::string message;  // Why not; empty: nothing is to be said.
  // The last thing that was said of the pod, once more: a later attempt that came to the same.
  bool is_repeated = false;
};

// {"time": 1.5, "type": "Bound", "pod": "default/web-0", "node": "node-a"}: seconds; what is empty
// is absent.
nlohmann::ordered_json ToJson(const DecisionLine& line);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DECISION_LINE_H_
