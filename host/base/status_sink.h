// The host's side of berth_status: where a plugin's function says why.
#ifndef BERTH_HOST_BASE_STATUS_SINK_H_
#define BERTH_HOST_BASE_STATUS_SINK_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/base/text.h"

namespace berth::host {

// One thing that is wrong with a plugin's arguments.
struct ArgumentError {
  std::string path;  // A JSON pointer, "/scoringStrategy/type"; empty: the arguments as a whole.
  std::string text;  // What was expected and what was found.

  friend bool operator==(const ArgumentError&, const ArgumentError&) = default;
};

// Collects what a plugin says through a berth_status. Pass raw() to the call, read afterwards,
// Clear() before the next one; texts are copied at once, as the boundary promises.
// Threading: a value of one thread; one call of a plugin at a time writes to it.
// Must not: move or be copied, because raw() points back at it.
class StatusSink {
 public:
  StatusSink();
  StatusSink(const StatusSink&) = delete;
  StatusSink& operator=(const StatusSink&) = delete;
  ~StatusSink() = default;

  // Lifetime: this object's.
  berth_status* raw() { return &raw_; }

  // In the order in which they were added.
  std::span<const std::string> reasons() const { return reasons_; }
  std::span<const ArgumentError> argument_errors() const { return argument_errors_; }

  // "first, second", as kube-scheduler's Status.Message() has it; empty when no reason was given.
  std::string JoinReasons() const { return Join(reasons_, ", "); }

  void Clear();

 private:
  static void AddReason(berth_status* self, berth_str text) noexcept;
  static void AddArgumentError(berth_status* self, berth_str path, berth_str text) noexcept;

  berth_status raw_;
  std::vector<std::string> reasons_;
  std::vector<ArgumentError> argument_errors_;
};

// "Unschedulable" and the like: Kubernetes' spelling for 0 to 6; "Unknown" beyond what the ABI has.
std::string_view CodeName(berth_code code);

// What is wrong, when a plugin answered `code` where it may not: its reasons, or for want of them
// "plugin answered Error".
std::string WhyFailed(berth_code code, std::string_view reasons);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_STATUS_SINK_H_
