#include "host/cluster/control_plane/json_members.h"

namespace berth::host {

using Json = nlohmann::ordered_json;

const Json& ValueAt(const Json& json, const char* pointer) {
  static const Json kNull;
  const Json::json_pointer path(pointer);
  return json.contains(path) ? json.at(path) : kNull;
}

std::string TextAt(const Json& json, const char* pointer) {
  const Json& value = ValueAt(json, pointer);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Json& ObjectIn(Json& json, const char* key) {
  if (!json.is_object()) json = Json::object();
  Json& member = json[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

Json& ArrayIn(Json& json, const char* key) {
  if (!json.is_object()) json = Json::object();
  Json& member = json[key];
  if (!member.is_array()) member = Json::array();
  return member;
}

Status Unexpected(const char* pointer, const std::string& expected, const std::string& found) {
  return Status::InvalidArgument(std::string(pointer) + ": expected " + expected + ", found " +
                                 found);
}

bool AddMissing(const Json& from, Json& to) {
  bool is_changed = false;
  for (const auto& [key, value] : from.items()) {
    if (to.contains(key) && !to[key].is_null()) continue;
    to[key] = value;
    is_changed = true;
  }
  return is_changed;
}

}  // namespace berth::host
