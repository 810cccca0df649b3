#include "host/cluster/control_plane/json_members.h"

#include <charconv>
#include <cstddef>
#include <utility>

#include "host/base/json_text.h"

namespace berth::host {

using Json = nlohmann::ordered_json;

namespace {

// Returns the member of an object, or the element of an array; null if there is none.
const Json* Child(const Json& parent, std::string_view key) {
  if (parent.is_object()) {
    const auto found = parent.find(key);
    return found == parent.end() ? nullptr : &*found;
  }
  size_t index = 0;
  const char* const end = key.data() + key.size();
  if (!parent.is_array() || std::from_chars(key.data(), end, index).ptr != end) return nullptr;
  return index < parent.size() ? &parent[index] : nullptr;
}

}  // namespace

const Json& ValueAt(const Json& json, std::string_view pointer) {
  static const Json kNull;
  const Json* value = &json;
  while (!pointer.empty() && value != nullptr) {
    pointer.remove_prefix(1);
    const std::string_view key = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(key.size());
    value = Child(*value, key);
  }
  return value == nullptr ? kNull : *value;
}

std::string TextAt(const Json& json, std::string_view pointer) {
  const Json& value = ValueAt(json, pointer);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string NamespaceOf(const Json& object) {
  std::string ns = TextAt(object, "/metadata/namespace");
  return ns.empty() ? "default" : ns;
}

std::string FoundText(const Json& value) { return value.is_null() ? "nothing" : QuotedJson(value); }

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

Status Unexpected(std::string_view pointer, std::string_view expected, std::string_view found) {
  std::string message(pointer);
  message.append(": expected ").append(expected).append(", found ").append(found);
  return Status::InvalidArgument(std::move(message));
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
