#include <string>

#include "host/api/decode_parts.h"
#include "host/api/quantity.h"

namespace berth::host {
namespace {

// Reads a quantity, which is a string or a number; the API server accepts both.
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

// Reads one entry of a ResourceList. With `pod_level`, resources that a pod cannot request at pod
// level are skipped.
bool ReadResource(Reader& reader, const Field& field, JsonValue& value, bool pod_level,
                  ResourceSum* sum) {
  Quantity amount;
  if (!ReadQuantity(reader, value, &amount)) return false;
  switch (ClassifyResource(field.name)) {
    case ResourceClass::kCpu: sum->Set(BERTH_PRESENT_CPU, amount); break;
    case ResourceClass::kMemory: sum->Set(BERTH_PRESENT_MEMORY, amount); break;
    case ResourceClass::kEphemeralStorage:
      if (!pod_level) sum->Set(BERTH_PRESENT_EPHEMERAL_STORAGE, amount);
      break;
    case ResourceClass::kPods:
      if (!pod_level) sum->Set(BERTH_PRESENT_PODS, amount);
      break;
    case ResourceClass::kHugePages: sum->Set(ScalarKey(reader.Intern(field.name)), amount); break;
    case ResourceClass::kScalar:
      if (!pod_level) sum->Set(ScalarKey(reader.Intern(field.name)), amount);
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

bool ReadResources(Reader& reader, JsonValue& value, ResourceList* resources) {
  if (!ReadList(reader, value, false, &reader.resources)) return false;
  *resources = reader.resources.Copy(reader.scratch());
  return true;
}

bool ReadResources(Reader& reader, JsonValue& value, const berth_resources** resources) {
  if (!ReadList(reader, value, false, &reader.resources)) return false;
  *resources = RoundUp(reader.resources.amounts(), reader.arena());
  return true;
}

bool ReadPodLevelResources(Reader& reader, JsonValue& value, ResourceList* resources) {
  if (!ReadList(reader, value, true, &reader.resources)) return false;
  *resources = reader.resources.Copy(reader.scratch());
  return true;
}

}  // namespace berth::host
