// Fuzzes the reader of host files.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/base/assert.h"
#include "host/config/host_config.h"

namespace berth::host {
namespace {

void Run(std::string_view text) {
  ConfigErrors errors;
  const HostConfig config = ReadHostConfig(text, "etc/berth.toml", errors);
  for (const ConfigError& error : errors.errors()) {
    BERTH_ASSERT(error.place.file == "etc/berth.toml" && !error.text.empty());
  }
  if (!errors.empty()) return;
  for (const Placed<std::string>& profile : config.profiles) BERTH_ASSERT(!profile.value.empty());
  BERTH_ASSERT(config.initial_backoff_ns.value_or(1) > 0);
  BERTH_ASSERT(config.max_backoff_ns.value_or(1) > 0);
  BERTH_ASSERT(config.call_deadline_ns.value_or(1) > 0);
  BERTH_ASSERT(config.bind_deadline_ns.value_or(1) > 0);
  BERTH_ASSERT(config.quarantine_window_ns.value_or(1) > 0);
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
