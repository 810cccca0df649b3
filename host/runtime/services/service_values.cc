// The service berth.values/1. host/api/value.cc implements the functions that read values.
#include "host/runtime/services/service_values.h"

#include "host/api/value.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

const berth_value* ParseValue(const berth_host* host, berth_str json,
                              berth_status* status) noexcept {
  Status error;
  {
    const HostUse instance(host);
    if (!instance) return nullptr;
    Decoder decoder = DecoderForOne(instance->services().interner);
    Result<Parsed<berth_value>> parsed = decoder.DecodeTree(Text(json));
    if (parsed.ok()) return instance->values().Add(std::move(parsed).value());
    error = std::move(parsed).status();
  }
  AddReason(status, error);  // Calls the plugin, so that no HostUse may exist.
  return nullptr;
}

void ReleaseValue(const berth_host* host, const berth_value* value) noexcept {
  const HostUse instance(host);
  if (!instance || value == nullptr || instance->values().Release(value)) return;
  instance->NoteFaultAtCurrentPoint(
      "releases a value that berth_values.parse did not return, or that was released before");
}

}  // namespace

const berth_values* InstanceValuesService() {
  static const berth_values service = [] {
    berth_values values = *ValuesService();
    values.parse = ParseValue;
    values.release = ReleaseValue;
    return values;
  }();
  return &service;
}

}  // namespace berth::host
