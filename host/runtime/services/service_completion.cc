// The service berth.completion/1.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/base/foreign_struct.h"
#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// The most reasons of an outcome. A larger number is taken for memory that is not initialised.
constexpr uint32_t kMaxOutcomeReasons = 65'536;

// An outcome as the host keeps it.
struct KeptOutcome {
  berth_code code;
  std::vector<std::string> reasons;
};

KeptOutcome Keep(const berth_outcome& given) {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_outcome, reasons);
  if (given.struct_size < kFirstSize) {
    return {BERTH_BUG, {"gave a berth_outcome that is too small"}};
  }
  if (const auto fault = ArrayFault(given.reasons, sizeof(berth_str), kMaxOutcomeReasons)) {
    return {BERTH_BUG, {"gave an array of reasons that is not valid: " + *fault}};
  }
  StatusSink sink;  // It keeps the reasons of an outcome as those of an answer.
  for (uint32_t i = 0; i < given.reasons.count; ++i) {
    const berth_str reason = *BERTH_AT(berth_str, given.reasons, i);
    if (IsNull(reason) || reason.len != 0) sink.raw()->add_reason(sink.raw(), reason);
  }
  const bool is_bug = sink.has_null_reason() && given.code != BERTH_SUCCESS;
  return {is_bug ? berth_code{BERTH_BUG} : given.code,
          {sink.reasons().begin(), sink.reasons().end()}};
}

void Complete(berth_done done, const berth_outcome* outcome) noexcept {
  if (done.host == nullptr) return;
  InstanceHost& instance = InstanceHost::FromAbi(done.host);
  KeptOutcome kept = Keep(*outcome);
  if (instance.promises()->Complete(done.id, kept.code, std::move(kept.reasons))) return;
  const HostUse use(instance);
  if (use) {
    use->NoteFaultAtCurrentPoint("completed promise " + std::to_string(done.id) +
                                 ", which it never got");
  }
}

constexpr berth_completion kCompletion{sizeof(berth_completion), 0, Complete};

}  // namespace

ServiceInfo CompletionService() {
  return {.id = BERTH_SERVICE_COMPLETION, .functions = &kCompletion};
}

}  // namespace berth::host
