// One line of a scheduler's output: what it decided about a pod.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_DECISION_LINE_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_DECISION_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace berth::host {

enum class DecisionType : uint8_t {
  kBound,
  kRefused,  // No node fits.
  kError,    // The attempt or the binding failed with an error.
  kSkipped,  // The pod is being deleted.
  kWaiting,  // A node was found, and the pod waits on Permit.
  kGated,    // PreEnqueue holds the pod back; it was not tried.
};

// "Bound"
std::string_view DecisionTypeName(DecisionType type);

struct DecisionLine {
  int64_t time_ns = 0;  // The time since the start of the run.
  DecisionType type = DecisionType::kBound;
  std::string pod;      // "default/web-0"
  std::string node;     // Empty: none.
  std::string message;  // Why the pod is not bound; empty if the type is enough.
  // True if the last line about the pod had the same type, node and message: a later attempt had
  // the same result.
  bool is_repeated = false;
};

// Returns {"time": 1.5, "type": "Bound", "pod": "default/web-0", "node": "node-a"}. The time is in
// seconds. Keys of empty fields are absent.
nlohmann::ordered_json ToJson(const DecisionLine& line);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_DECISION_LINE_H_
