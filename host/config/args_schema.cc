#include "host/config/args_schema.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/config/config_value.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;

const Json* Find(const Json& schema, const char* key) {
  if (!schema.is_object()) return nullptr;
  const auto found = schema.find(key);
  return found == schema.end() ? nullptr : &*found;
}

// Returns the table; nullptr if the schema has no such table.
const Json* FindTable(const Json& schema, const char* key) {
  const Json* table = Find(schema, key);
  return table != nullptr && table->is_object() ? table : nullptr;
}

std::string Describe(const Json& value) {
  if (value.is_string()) return Quoted(value.get_ref<const std::string&>());
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  return value.is_object() ? "a table" : DumpJson(value);
}

std::string TypeName(const std::string& type) {
  if (type == "integer") return "a whole number";
  if (type == "number") return "a number";
  if (type == "string") return "a string";
  if (type == "boolean") return "true or false";
  return type == "array" ? "an array" : "a table";
}

bool HasType(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  return type != "object" || value.is_object();
}

std::optional<std::string> TypeOf(const Json& schema) {
  const Json* type = Find(schema, "type");
  if (type == nullptr || !type->is_string()) return std::nullopt;
  return type->get<std::string>();
}

class Checker {
 public:
  Checker(const ProfileArgs& args, std::string context, const ConfigPlace& plugin,
          ConfigErrors& errors)
      : args_(args), context_(std::move(context)), plugin_(plugin), errors_(errors) {}

  void Check(const Json& schema, const Json& value, const std::string& pointer) {
    if (value.is_null() && args_.texts.contains(pointer)) return;  // It was reported.
    if (const Json* allowed_values = Find(schema, "enum");
        allowed_values != nullptr && allowed_values->is_array()) {
      CheckEnum(*allowed_values, value, pointer);
      return;
    }
    if (const auto type = TypeOf(schema); type.has_value() && !HasType(value, *type)) {
      std::string found = Found(value, pointer);
      if (*type == "integer" && value.is_number_float()) found += IntegerAdvice(value);
      Expected(pointer, TypeName(*type) + Range(schema, "minimum", "maximum"), found);
    } else if (value.is_number()) {
      CheckLimits(schema, value, pointer);
    } else if (value.is_object()) {
      CheckTable(schema, value, pointer);
    } else if (value.is_array()) {
      CheckArray(schema, value, pointer);
    } else if (value.is_string()) {
      CheckLength(schema, "minLength", "maxLength", value.get_ref<const std::string&>().size(),
                  "a string", pointer);
    }
  }

 private:
  void CheckEnum(const Json& allowed_values, const Json& value, const std::string& pointer) {
    if (std::ranges::find(allowed_values, value) != allowed_values.end()) return;
    std::vector<std::string> names;
    std::vector<std::string> quoted;
    for (const Json& allowed : allowed_values) {
      quoted.push_back(Describe(allowed));
      if (allowed.is_string()) names.push_back(allowed.get<std::string>());
    }
    std::string found = Found(value, pointer);
    if (value.is_string()) found += DidYouMean(value.get_ref<const std::string&>(), names);
    Expected(pointer, "one of " + Join(quoted, ", "), found);
  }

  // Returns the range of the schema as text: " from 0 to 100", " of at least 0", or nothing.
  static std::string Range(const Json& schema, const char* min_key, const char* max_key) {
    const Json* min = Find(schema, min_key);
    const Json* max = Find(schema, max_key);
    const bool has_min = min != nullptr && min->is_number();
    const bool has_max = max != nullptr && max->is_number();
    if (has_min && has_max) return " from " + DumpJson(*min) + " to " + DumpJson(*max);
    if (has_min) return " of at least " + DumpJson(*min);
    return has_max ? " of at most " + DumpJson(*max) : "";
  }

  static bool IsWithin(const Json& schema, const char* min_key, const char* max_key,
                       const Json& number) {
    const Json* min = Find(schema, min_key);
    const Json* max = Find(schema, max_key);
    const bool too_small = min != nullptr && min->is_number() && number < *min;
    const bool too_large = max != nullptr && max->is_number() && number > *max;
    return !too_small && !too_large;
  }

  void CheckLimits(const Json& schema, const Json& value, const std::string& pointer) {
    if (IsWithin(schema, "minimum", "maximum", value)) return;
    Expected(pointer,
             TypeName(TypeOf(schema).value_or("number")) + Range(schema, "minimum", "maximum"),
             Found(value, pointer));
  }

  // `what` has this length.
  void CheckLength(const Json& schema, const char* min_key, const char* max_key, size_t length,
                   const std::string& what, const std::string& pointer) {
    if (IsWithin(schema, min_key, max_key, length)) return;
    Expected(pointer, what + " with a length" + Range(schema, min_key, max_key),
             "a length of " + std::to_string(length));
  }

  void CheckArray(const Json& schema, const Json& array, const std::string& pointer) {
    CheckLength(schema, "minItems", "maxItems", array.size(), "an array", pointer);
    const Json* items = Find(schema, "items");
    if (items == nullptr) return;
    for (size_t i = 0; i < array.size(); ++i) {
      Check(*items, array[i], pointer + "/" + std::to_string(i));
    }
  }

  void CheckTable(const Json& schema, const Json& table, const std::string& pointer) {
    const Json* properties = FindTable(schema, "properties");
    const Json* others = Find(schema, "additionalProperties");
    std::vector<std::string> known;
    if (properties != nullptr) {
      for (const auto& [key, property] : properties->items()) known.push_back(key);
    }
    for (const auto& [key, value] : table.items()) {
      const std::string below = PointerTo(pointer, key);
      if (properties != nullptr && properties->contains(key)) {
        Check((*properties)[key], value, below);
      } else if (others != nullptr && others->is_object()) {
        Check(*others, value, below);
      } else if (others != nullptr && *others == false) {
        ReportUnknown(key, below, known);
      }
    }
    CheckRequired(schema, table, pointer);
  }

  void ReportUnknown(const std::string& key, const std::string& pointer,
                     const std::vector<std::string>& known) {
    const std::string suggestion = DidYouMean(key, known);
    std::string expected = "no arguments";
    if (!known.empty()) expected = "one of " + Join(known, ", ");
    if (!suggestion.empty()) expected = "a known key";
    Expected(pointer, expected, Quoted(key) + suggestion);
  }

  void CheckRequired(const Json& schema, const Json& table, const std::string& pointer) {
    const Json* required = Find(schema, "required");
    if (required == nullptr || !required->is_array()) return;
    for (const Json& key : *required) {
      if (!key.is_string() || table.contains(key.get_ref<const std::string&>())) continue;
      const std::string& name = key.get_ref<const std::string&>();
      const Json* properties = FindTable(schema, "properties");
      const Json* property = properties == nullptr ? nullptr : Find(*properties, name.c_str());
      std::string what = "a value";
      if (property != nullptr) what = TypeName(TypeOf(*property).value_or("string"));
      Expected(PointerTo(pointer, name), what, "none");
    }
  }

  // Describes the value at `pointer`: "the number 1e1", as the file writes it.
  std::string Found(const Json& value, const std::string& pointer) const {
    if (!value.is_number_float()) return Describe(value);
    const auto text = args_.texts.find(pointer);
    return "the number " + (text == args_.texts.end() ? DumpJson(value) : text->second);
  }

  void Expected(const std::string& pointer, const std::string& expected, const std::string& found) {
    const ConfigPlace place = args_.value.is_null() ? plugin_ : args_.PlaceOf(pointer);
    errors_.Expected(place, context_ + ArgsKey(pointer), expected, found);
  }

  const ProfileArgs& args_;
  std::string context_;
  const ConfigPlace& plugin_;
  ConfigErrors& errors_;
};

}  // namespace

std::string ArgsKey(std::string_view pointer) {
  std::string key = "args";
  while (!pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string_view part = pointer.substr(1, end - 1);
    pointer.remove_prefix(end);
    if (IsNumber(part)) {
      key.append("[").append(part).append("]");
      continue;
    }
    key += '.';
    for (size_t i = 0; i < part.size(); ++i) {
      const bool escaped = part[i] == '~' && i + 1 < part.size();
      if (escaped) ++i;
      key += !escaped ? part[i] : part[i] == '1' ? '/' : '~';
    }
  }
  return key;
}

void CheckArgs(const Json& schema, const ProfileArgs& args, const std::string& context,
               const ConfigPlace& plugin, ConfigErrors& errors) {
  const Json none = Json::object();
  Checker(args, context, plugin, errors)
      .Check(schema, args.value.is_null() ? none : args.value, "");
}

Json WithDefaults(const Json& schema, const Json& args) {
  Json whole = args.is_object() ? args : Json::object();
  const Json* properties = FindTable(schema, "properties");
  if (properties == nullptr) return whole;
  for (const auto& [key, property] : properties->items()) {
    const auto given = whole.find(key);
    if (given != whole.end()) {
      if (given->is_object()) *given = WithDefaults(property, *given);
    } else if (const Json* value = Find(property, "default")) {
      whole[key] = *value;
    }
  }
  return whole;
}

}  // namespace berth::host
