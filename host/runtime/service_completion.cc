// The service berth.completion/1.
#include <string>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

void Complete(berth_done done, berth_code code, berth_str reason) noexcept {
  if (done.host == nullptr) return;
  InstanceHost& instance = InstanceHost::FromAbi(done.host);
  const bool is_null = code != BERTH_SUCCESS && IsNull(reason);
  const bool known = is_null
                         ? instance.promises().Complete(done.id, BERTH_BUG, kNullReason)
                         : instance.promises().Complete(done.id, code, KeptReason(Text(reason)));
  if (known) return;
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
