#include "host/config/config_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "host/base/text.h"

namespace berth::host {
namespace {

nlohmann::json ToJson(const ConfigValue& value, const std::string& pointer, ProfileArgs& args) {
  args.places[pointer] = value.place;
  switch (value.kind) {
    case ConfigValue::Kind::kBool: return value.boolean;
    case ConfigValue::Kind::kInt: return value.integer;
    case ConfigValue::Kind::kFloat: return value.number;
    case ConfigValue::Kind::kString:
    case ConfigValue::Kind::kTime: return value.text;
    case ConfigValue::Kind::kArray: {
      nlohmann::json array = nlohmann::json::array();
      for (size_t i = 0; i < value.elements.size(); ++i) {
        array.push_back(ToJson(value.elements[i], pointer + "/" + std::to_string(i), args));
      }
      return array;
    }
    case ConfigValue::Kind::kTable: break;
  }
  nlohmann::json object = nlohmann::json::object();
  for (const ConfigMember& member : value.members) {
    object[member.key] = ToJson(member.value, PointerTo(pointer, member.key), args);
  }
  return object;
}

std::string NumberText(double number) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

}  // namespace

const ConfigValue* ConfigValue::Find(std::string_view key) const {
  const auto found = std::ranges::find(
      members, key, [](const ConfigMember& member) -> std::string_view { return member.key; });
  return found == members.end() ? nullptr : &found->value;
}

std::string ConfigValue::Describe() const {
  switch (kind) {
    case Kind::kBool: return boolean ? "true" : "false";
    case Kind::kInt: return std::to_string(integer);
    case Kind::kFloat: return NumberText(number);
    case Kind::kString: return Quoted(text);
    case Kind::kTime: return "a date or time";
    case Kind::kArray: return elements.empty() ? "an empty array" : "an array";
    case Kind::kTable: break;
  }
  return "a table";
}

ProfileArgs ToArgs(const ConfigValue& value) {
  ProfileArgs args;
  nlohmann::json json = ToJson(value, "", args);
  args.value = std::move(json);
  return args;
}

std::string PointerTo(std::string_view pointer, std::string_view key) {
  return (nlohmann::json::json_pointer(std::string(pointer)) / std::string(key)).to_string();
}

}  // namespace berth::host
