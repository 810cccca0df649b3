#include <string>

#include "host/api/decode_parts.h"
#include "host/api/quantity.h"

namespace berth::host {
namespace {

// A quantity is text or, as the API server takes it too, a number.
bool ReadQuantity(Reader& reader, JsonValue& value, Quantity* quantity) {
  std::string_view text = value.raw_json_token();
  if (text.starts_with('"')) {
    if (!reader.ReadText(value, &text)) return false;
  } else if (text.starts_with('{') || text.starts_with('[')) {
    return reader.FailExpected("a quantity", value);
  } else {
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  }
  const Result<Quantity> parsed = ParseQuantity(text);
  if (!parsed.ok()) {
    return reader.Fail(parsed.status().code(), std::string(parsed.status().message()));
  }
  if (parsed->Sign() < 0) return reader.FailExpected("a quantity of 0 or more", text);
  *quantity = *parsed;
  return true;
}

// One entry of a ResourceList. `pod_level`: only what pods may request as a whole.
bool ReadResource(Reader& reader, const Field& field, JsonValue& value, bool pod_level,
                  ResourceSum* sum) {
  Quantity quantity;
  if (!ReadQuantity(reader, value, &quantity)) return false;
  switch (ClassifyResource(field.name)) {
    case ResourceClass::kCpu: sum->SetAmount(BERTH_RESOURCE_CPU, quantity.MilliValue()); break;
    case ResourceClass::kMemory: sum->SetAmount(BERTH_RESOURCE_MEMORY, quantity.Value()); break;
    case ResourceClass::kEphemeralStorage:
      if (pod_level) break;
      sum->SetAmount(BERTH_RESOURCE_EPHEMERAL_STORAGE, quantity.Value());
      break;
    case ResourceClass::kPods:
      if (pod_level) break;
      sum->SetAmount(BERTH_RESOURCE_PODS, quantity.Value());
      break;
    case ResourceClass::kHugePages:
      sum->SetScalar(reader.Intern(field.name), quantity.Value());
      break;
    case ResourceClass::kScalar:
      if (pod_level) break;
      sum->SetScalar(reader.Intern(field.name), quantity.Value());
      break;
    case ResourceClass::kIgnored: break;
  }
  return true;
}

bool ReadList(Reader& reader, JsonValue& value, bool pod_level, ResourceSum* sum) {
  sum->Clear();
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    return ReadResource(reader, field, v, pod_level, sum);
  });
}

}  // namespace

bool ReadResources(Reader& reader, JsonValue& value, ResourceSum* sum) {
  return ReadList(reader, value, false, sum);
}

bool ReadResources(Reader& reader, JsonValue& value, const berth_resources** resources) {
  if (!ReadList(reader, value, false, &reader.resources)) return false;
  *resources = reader.resources.Store(reader.arena());
  return true;
}

bool ReadPodLevelResources(Reader& reader, JsonValue& value, const berth_resources** resources) {
  if (!ReadList(reader, value, true, &reader.resources)) return false;
  const berth_resources* stored = reader.resources.Store(reader.arena());
  *resources = stored == &kNoResources ? nullptr : stored;
  return true;
}

}  // namespace berth::host
