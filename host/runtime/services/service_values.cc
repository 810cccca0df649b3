// The service berth.values/1. host/api/value.cc implements the functions that read values.
#include "host/api/value.h"
#include "host/runtime/services/plugin_owned.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

const berth_value* ParseValue(const berth_host* host, berth_str json,
                              berth_status* status) noexcept {
  Status error;
  {
    const HostUse instance(host);
    if (!instance) return nullptr;
    Decoder decoder = DecoderForOne(instance->context().interner);
    Result<Parsed<berth_value>> parsed = decoder.DecodeTree(Text(json));
    if (parsed.ok()) return StateOf<ParsedValues>(*instance).values.Add(std::move(parsed).value());
    error = std::move(parsed).status();
  }
  AddReason(status, error);  // Calls the plugin, so that no HostUse may exist.
  return nullptr;
}

void ReleaseValue(const berth_host* host, const berth_value* value) noexcept {
  const HostUse instance(host);
  if (!instance || value == nullptr || StateOf<ParsedValues>(*instance).values.Release(value))
    return;
  instance->NoteFaultAtCurrentPoint(
      "releases a value that berth_values.parse did not return, or that was released before");
}

}  // namespace

ServiceInfo InstanceValuesService() {
  static const berth_values functions = [] {
    berth_values values = *ValuesService();
    values.parse = ParseValue;
    values.release = ReleaseValue;
    return values;
  }();
  return {.id = BERTH_SERVICE_VALUES,
          .functions = &functions,
          .create_state = CreateState<ParsedValues>,
          .lifetime = StateLifetime::kReadByPlugin};
}

}  // namespace berth::host
