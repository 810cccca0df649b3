#include "host/base/status_sink.h"

namespace berth::host {

std::string KeptReason(std::string_view reason) { return Truncate(reason, kMaxReasonBytes, "..."); }

StatusSink::StatusSink()
    : raw_{sizeof(berth_status), 0, this, &StatusSink::AddReason, &StatusSink::AddArgumentError} {}

void StatusSink::AddReason(berth_status* self, berth_str text) noexcept {
  auto& sink = *static_cast<StatusSink*>(self->impl);
  sink.has_null_reason_ |= IsNull(text);
  if (sink.reasons_.size() >= kMaxStatusReasons) {
    sink.reasons_.resize(kMaxStatusReasons);
    sink.left_out_ += 1;
    sink.reasons_.push_back("and " + std::to_string(sink.left_out_) + " more reasons");
    return;
  }
  sink.reasons_.push_back(IsNull(text) ? std::string(kNullReason) : KeptReason(Text(text)));
}

void StatusSink::AddArgumentError(berth_status* self, berth_str path, berth_str text) noexcept {
  static_cast<StatusSink*>(self->impl)
      ->argument_errors_.push_back({std::string(Text(path)), std::string(Text(text))});
}

std::string_view CodeName(berth_code code) {
  switch (code) {
    case BERTH_SUCCESS: return "Success";
    case BERTH_ERROR: return "Error";
    case BERTH_UNSCHEDULABLE: return "Unschedulable";
    case BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE: return "UnschedulableAndUnresolvable";
    case BERTH_WAIT: return "Wait";
    case BERTH_SKIP: return "Skip";
    case BERTH_PENDING: return "Pending";
    case BERTH_CANCELLED: return "Cancelled";
    case BERTH_UNSUPPORTED: return "Unsupported";
    case BERTH_NOT_FOUND: return "NotFound";
    case BERTH_BAD_ARGUMENT: return "BadArgument";
    case BERTH_CONFLICT: return "Conflict";
    case BERTH_BUG: return "Bug";
    default: return "Unknown";
  }
}

std::string FailureText(berth_code code, std::string_view reasons) {
  return reasons.empty() ? "plugin returned " + std::string(CodeName(code)) : std::string(reasons);
}

}  // namespace berth::host
