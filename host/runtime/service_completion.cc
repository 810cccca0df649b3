// The service berth.completion/1.
#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/runtime/done.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

void Complete(berth_done* done, berth_code code, berth_str reason) noexcept {
  if (code != BERTH_SUCCESS && IsNull(reason)) {
    Promises::Complete(done, BERTH_BUG, kNullReason);
  } else {
    Promises::Complete(done, code, KeptReason(Text(reason)));
  }
}

constexpr berth_completion kCompletion{sizeof(berth_completion), 0, Complete};

}  // namespace

const berth_completion* CompletionService() { return &kCompletion; }

}  // namespace berth::host
