// The service berth.completion/1.
#include <string>
#include <string_view>

#include "host/base/foreign_struct.h"
#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

constexpr std::string_view kSmallOutcome = "gave a berth_outcome that is too small";

// An outcome as the host keeps it.
struct KeptOutcome {
  berth_code code;
  std::string reason;
};

KeptOutcome Keep(const berth_outcome& given) {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_outcome, reason);
  if (given.struct_size < kFirstSize) return {BERTH_BUG, std::string(kSmallOutcome)};
  const bool is_null = given.code != BERTH_SUCCESS && IsNull(given.reason);
  if (is_null) return {BERTH_BUG, std::string(kNullReason)};
  return {given.code, KeptReason(Text(given.reason))};
}

void Complete(berth_done done, const berth_outcome* outcome) noexcept {
  if (done.host == nullptr) return;
  InstanceHost& instance = InstanceHost::FromAbi(done.host);
  const KeptOutcome kept = Keep(*outcome);
  if (instance.promises().Complete(done.id, kept.code, kept.reason)) return;
  const HostUse use(instance);
  if (use) {
    use->NoteFaultAtCurrentPoint("completed promise " + std::to_string(done.id) +
                                 ", which it never got");
  }
}

constexpr berth_completion kCompletion{sizeof(berth_completion), 0, Complete};

}  // namespace

const berth_completion* CompletionService() { return &kCompletion; }

}  // namespace berth::host
