#include "host/runtime/arguments.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "host/api/objects.h"

namespace berth::host {
namespace {

uint32_t Kind(const berth_value* value) noexcept {
  return value == nullptr ? uint32_t{BERTH_VALUE_NULL}
                          : static_cast<uint32_t>(value->value.index());
}
static_assert(BERTH_VALUE_BOOL == 1 && BERTH_VALUE_INT == 2 && BERTH_VALUE_FLOAT == 3 &&
              BERTH_VALUE_STRING == 4 && BERTH_VALUE_ARRAY == 5 && BERTH_VALUE_OBJECT == 6);

uint64_t Size(const berth_value* value) noexcept {
  if (value == nullptr) return 0;
  if (const auto* array = std::get_if<berth_value::Array>(&value->value)) return array->size();
  if (const auto* object = std::get_if<berth_value::Object>(&value->value)) return object->size();
  return 0;
}

const berth_value* Get(const berth_value* value, berth_str key) noexcept {
  const auto* object = value == nullptr ? nullptr : std::get_if<berth_value::Object>(&value->value);
  if (object == nullptr) return nullptr;
  for (const auto& [name, member] : *object) {
    if (name == Text(key)) return member.get();
  }
  return nullptr;
}

const berth_value* At(const berth_value* value, uint64_t index, berth_str* key_or_null) noexcept {
  if (index >= Size(value)) return nullptr;
  if (const auto* array = std::get_if<berth_value::Array>(&value->value)) {
    return (*array)[index].get();
  }
  const auto& [name, member] = std::get<berth_value::Object>(value->value)[index];
  if (key_or_null != nullptr) *key_or_null = AsStr(name);
  return member.get();
}

int64_t AsInt(const berth_value* value) noexcept {
  if (value == nullptr) return 0;
  if (const auto* number = std::get_if<int64_t>(&value->value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value->value)) return *flag ? 1 : 0;
  return 0;
}

double AsFloat(const berth_value* value) noexcept {
  if (value == nullptr) return 0;
  if (const auto* number = std::get_if<double>(&value->value)) return *number;
  return static_cast<double>(AsInt(value));
}

berth_str AsString(const berth_value* value) noexcept {
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
  return text == nullptr ? berth_str{nullptr, 0} : AsStr(*text);
}

berth_str Where(const berth_value* value) noexcept {
  return value == nullptr ? berth_str{nullptr, 0} : AsStr(value->where);
}

constexpr berth_args kService{sizeof(berth_args), 0,    Kind, Size, Get, At, AsInt, AsFloat,
                              AsString,           Where};

}  // namespace

std::unique_ptr<berth_value> ArgumentsFromJson(const nlohmann::json& json,
                                               const std::string& where) {
  auto value = std::make_unique<berth_value>();
  value->where = where;
  if (json.is_boolean()) {
    value->value = json.get<bool>();
  } else if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
    value->value = json.get<double>();
  } else if (json.is_number_integer()) {
    value->value = json.get<int64_t>();
  } else if (json.is_number_float()) {
    value->value = json.get<double>();
  } else if (json.is_string()) {
    value->value = json.get<std::string>();
  } else if (json.is_array()) {
    auto& array = value->value.emplace<berth_value::Array>();
    for (const auto& element : json) array.push_back(ArgumentsFromJson(element, where));
  } else if (json.is_object()) {
    auto& object = value->value.emplace<berth_value::Object>();
    for (const auto& [key, member] : json.items()) {
      object.emplace_back(key, ArgumentsFromJson(member, where));
    }
  }
  return value;
}

const berth_args* ArgumentsService() { return &kService; }

}  // namespace berth::host
