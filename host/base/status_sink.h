// The host's implementation of berth_status, through which a plugin function reports reasons and
// argument errors.
#ifndef BERTH_HOST_BASE_STATUS_SINK_H_
#define BERTH_HOST_BASE_STATUS_SINK_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/base/text.h"

namespace berth::host {

// An error in the arguments of a plugin.
struct ArgumentError {
  std::string path;  // A JSON pointer, "/scoringStrategy/type"; empty for the arguments as a whole.
  std::string text;  // The text that states what was expected and what was found.

  friend bool operator==(const ArgumentError&, const ArgumentError&) = default;
};

// A longer reason is cut, and further reasons are counted only, so that one answer cannot fill
// conditions and output.
inline constexpr size_t kMaxReasonBytes = 1024;
inline constexpr size_t kMaxStatusReasons = 64;
// The reason in place of one that is NULL, after the name of the plugin.
inline constexpr std::string_view kNullReason = "gave a reason that is NULL";

// Returns the reason of a plugin as the host keeps it: cut to kMaxReasonBytes, with "..." at the
// end.
std::string KeptReason(std::string_view reason);

// Collects the reasons and argument errors that a plugin adds through a berth_status. Pass raw() to
// the call, and read the texts after it. The sink copies each text when it is added, as abi.h
// promises. It keeps KeptReason() of a reason, and kNullReason for a reason that is NULL. Of more
// than kMaxStatusReasons reasons, it keeps the first ones and "and <n> more reasons".
// Threading: used by one thread, for one plugin call.
// Must not: be moved or copied, because raw() points to this object.
class StatusSink {
 public:
  StatusSink();
  StatusSink(const StatusSink&) = delete;
  StatusSink& operator=(const StatusSink&) = delete;
  ~StatusSink() = default;

  // Lifetime: that of this object.
  berth_status* raw() { return &raw_; }

  // reasons() and argument_errors() return the texts in the order in which the plugin added them.
  std::span<const std::string> reasons() const { return reasons_; }
  std::span<const ArgumentError> argument_errors() const { return argument_errors_; }
  // Returns the reasons, which are empty from then on.
  std::vector<std::string> TakeReasons() { return std::exchange(reasons_, {}); }
  // Returns true if a reason was NULL, which breaks the contract.
  bool has_null_reason() const { return has_null_reason_; }

  // Returns the reasons as kube-scheduler's Status.Message() does, such as "first, second"; empty
  // if no reason was added.
  std::string JoinReasons() const { return Join(reasons_, ", "); }

 private:
  static void AddReason(berth_status* self, berth_str text) noexcept;
  static void AddArgumentError(berth_status* self, berth_str path, berth_str text) noexcept;

  berth_status raw_;
  std::vector<std::string> reasons_;
  size_t left_out_ = 0;
  std::vector<ArgumentError> argument_errors_;
  bool has_null_reason_ = false;
};

// Returns the name of a code, such as "Unschedulable". The names of codes 0 to 6 are those of
// Kubernetes. Returns "Unknown" for a code that the ABI does not define.
std::string_view CodeName(berth_code code);

// Returns the error text for a `code` that means failure or that the plugin must not return: the
// plugin's reasons, or a text such as "plugin returned Error" if it added none.
std::string FailureText(berth_code code, std::string_view reasons);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_STATUS_SINK_H_
