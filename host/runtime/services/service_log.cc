// The service berth.log/1.
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

void LogMessage(const berth_host* host, uint32_t level, berth_str message,
                const berth_str_pair* pairs, uint64_t count) noexcept {
  const HostUse instance(host);
  if (!instance) return;
  const uint32_t least = instance->context().log_level.get();
  level = std::min<uint32_t>(level, BERTH_LOG_ERROR);
  if (level < least) return;
  std::vector<LogField> fields;
  fields.reserve(count);
  for (const berth_str_pair& pair : std::span(pairs, count)) {
    fields.push_back({.key = Text(pair.key), .value = Text(pair.value)});
  }
  instance->Log(level, Text(message), fields);
}

// Each instance has its own functions, with a reference to the level, because its plugin reads the
// level without a call.
class LogState final : public ServiceState {
 public:
  explicit LogState(const InstanceHost& host)
      : level_(host.context().log_level),
        functions_{sizeof(berth_log), 0, level_.word(), LogMessage} {}
  const void* functions() const override { return &functions_; }

 private:
  const SharedLogLevel level_;
  const berth_log functions_;
};

}  // namespace

ServiceInfo LogService() {
  return {.id = BERTH_SERVICE_LOG,
          .create_state = CreateState<LogState>,
          .lifetime = StateLifetime::kHost};
}

}  // namespace berth::host
