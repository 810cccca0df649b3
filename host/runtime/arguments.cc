#include "host/runtime/arguments.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace berth::host {
namespace {

class ArgumentsReader {
 public:
  ArgumentsReader(Arena& arena, std::string_view where)
      : arena_(arena), where_(arena.CopyString(where)) {}

  Value Read(const nlohmann::json& json) {
    if (json.is_boolean()) return Value::Bool(json.get<bool>());
    if (json.is_string()) return Value::String(arena_.CopyString(json.get_ref<const Text&>()));
    if (json.is_object()) return ReadObject(json);
    if (json.is_array()) return ReadArray(json);
    const bool too_large = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX};
    if (json.is_number_float() || too_large) return Value::Float(json.get<double>());
    return json.is_number_integer() ? Value::Int(json.get<int64_t>()) : Value();
  }

  PlacedMember Place(const Value& value, std::string_view key = {}) {
    return {value, arena_.CopyString(key), where_};
  }

 private:
  using Text = std::string;

  Value ReadObject(const nlohmann::json& json) {
    std::vector<PlacedMember> members;
    for (const auto& [key, member] : json.items()) {
      if (!member.is_null()) members.push_back(Place(Read(member), key));
    }
    return Value::Object(Keep(members));
  }

  Value ReadArray(const nlohmann::json& json) {
    std::vector<PlacedMember> elements;
    for (const nlohmann::json& element : json) elements.push_back(Place(Read(element)));
    return Value::Array(Keep(elements));
  }

  std::span<const PlacedMember> Keep(const std::vector<PlacedMember>& parts) {
    return arena_.CopyArray(std::span<const PlacedMember>(parts));
  }

  Arena& arena_;
  std::string_view where_;
};

}  // namespace

Arguments::Arguments(const nlohmann::json& json, std::string_view where) {
  if (json.is_null()) return;
  ArgumentsReader reader(arena_, where);
  const PlacedMember root = reader.Place(reader.Read(json));
  root_ = arena_.New<PlacedMember>(root)->member.value.abi();
}

}  // namespace berth::host
