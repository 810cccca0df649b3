#include "host/cluster/embedded/object_json.h"

#include <string>

#include <nlohmann/json.hpp>

#include "host/api/value.h"
#include "host/base/time.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

Json FromValue(const Value& value) {  // NOLINT(misc-no-recursion): as deep as a decoder allows.
  switch (value.kind()) {
    case BERTH_VALUE_BOOL: return value.boolean();
    case BERTH_VALUE_INT: return value.integer();
    case BERTH_VALUE_FLOAT: return value.number();
    case BERTH_VALUE_STRING: return std::string(value.text());
    case BERTH_VALUE_ARRAY: {
      Json array = Json::array();
      for (uint32_t i = 0; i < value.size(); ++i) array.push_back(FromValue(value.At(i).value));
      return array;
    }
    case BERTH_VALUE_OBJECT: {
      Json object = Json::object();
      for (uint32_t i = 0; i < value.size(); ++i) {
        const Member& member = value.At(i);
        object[std::string(Text(member.key))] = FromValue(member.value);
      }
      return object;
    }
    default: return nullptr;
  }
}

void SetTime(Json& metadata, const char* name, int64_t time_ns) {
  if (time_ns == 0) {
    metadata.erase(name);
  } else {
    metadata[name] = FormatTime(time_ns / kSecond * kSecond);  // metav1.Time has whole seconds.
  }
}

}  // namespace

Json ToJson(const berth_value* value) {
  return value == nullptr ? Json() : FromValue(*Value::Of(value));
}

Json ToJson(const Object& object) {
  Json json = ToJson(object.value());
  WriteServerMeta(object, json);
  return json;
}

void WriteServerMeta(const ObjectBase& object, Json& json) {
  Json& metadata = json["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (!object.ns().empty()) metadata["namespace"] = std::string(object.ns());
  metadata["uid"] = std::string(object.uid());
  metadata["resourceVersion"] = std::string(object.resource_version());
  SetTime(metadata, "creationTimestamp", object.meta().created_ns);
  SetTime(metadata, "deletionTimestamp", object.meta().deleted_ns);
}

Json MetadataOf(const ObjectBase& object) {
  Json json = {{"kind", "PartialObjectMetadata"},
               {"apiVersion", "meta.k8s.io/v1"},
               {"metadata", {{"name", std::string(object.name())}}}};
  WriteServerMeta(object, json);
  return json;
}

}  // namespace berth::host
