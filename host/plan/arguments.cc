#include "host/plan/arguments.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace berth::host {
namespace {

class ArgumentsReader {
 public:
  ArgumentsReader(Arena& arena, std::string_view where, const ArgumentPlaces& places)
      : arena_(arena), where_(arena.CopyString(where)), places_(places) {}

  PlacedMember ReadRoot(const nlohmann::json& json) { return ReadPart(json, {}, where_); }

 private:
  using Text = std::string;

  PlacedMember ReadPart(const nlohmann::json& json, std::string_view key, std::string_view where) {
    const auto place = places_.find(pointer_);
    if (place != places_.end()) where = arena_.CopyString(place->second);
    return {Read(json, where), arena_.CopyString(key), where};
  }

  Value Read(const nlohmann::json& json, std::string_view where) {
    if (json.is_boolean()) return Value::Bool(json.get<bool>());
    if (json.is_string()) return Value::String(arena_.CopyString(json.get_ref<const Text&>()));
    if (json.is_object()) return ReadObject(json, where);
    if (json.is_array()) return ReadArray(json, where);
    const bool too_large = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX};
    if (json.is_number_float() || too_large) return Value::Float(json.get<double>());
    return json.is_number_integer() ? Value::Int(json.get<int64_t>()) : Value();
  }

  Value ReadObject(const nlohmann::json& json, std::string_view where) {
    std::vector<PlacedMember> members;
    for (const auto& [key, member] : json.items()) {
      if (member.is_null()) continue;
      const size_t length = Enter(key);
      members.push_back(ReadPart(member, key, where));
      pointer_.resize(length);
    }
    return Value::Object(Keep(members));
  }

  Value ReadArray(const nlohmann::json& json, std::string_view where) {
    std::vector<PlacedMember> elements;
    for (size_t i = 0; i < json.size(); ++i) {
      const size_t length = Enter(std::to_string(i));
      elements.push_back(ReadPart(json[i], {}, where));
      pointer_.resize(length);
    }
    return Value::Array(Keep(elements));
  }

  // Appends `key` to the pointer (RFC 6901) and returns the former length.
  size_t Enter(std::string_view key) {
    const size_t length = pointer_.size();
    pointer_ += '/';
    for (const char c : key) {
      if (c == '~' || c == '/') {
        pointer_ += c == '~' ? "~0" : "~1";
      } else {
        pointer_ += c;
      }
    }
    return length;
  }

  std::span<const PlacedMember> Keep(const std::vector<PlacedMember>& parts) {
    return arena_.CopyArray(std::span<const PlacedMember>(parts));
  }

  Arena& arena_;
  std::string_view where_;
  const ArgumentPlaces& places_;
  std::string pointer_;  // To the part that is being read.
};

}  // namespace

Arguments::Arguments(const nlohmann::json& json, std::string_view where,
                     const ArgumentPlaces& places) {
  if (json.is_null()) return;
  const PlacedMember root = ArgumentsReader(arena_, where, places).ReadRoot(json);
  root_ = arena_.New<PlacedMember>(root)->member.value.abi();
}

}  // namespace berth::host
