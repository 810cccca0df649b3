#include "host/config/convert/document.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/api/json_syntax.h"
#include "host/api/yaml.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/config/args_schema.h"
#include "host/config/convert/document_places.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;

constexpr YamlLimits kYamlLimits{.max_bytes = kMaxConfigBytes,
                                 .max_json_bytes = kMaxConfigBytes,
                                 .max_depth = kMaxDocumentDepth,
                                 .max_nodes = 200'000,
                                 .max_alias_ratio = 100,
                                 .free_alias_nodes = 10'000};

class DocumentConverter {
 public:
  DocumentConverter(const std::string& file, const DocumentPlaces& places, ConfigErrors& errors)
      : file_(file), places_(places), errors_(errors) {}

  ConfigValue Convert(const Json& json, const std::string& pointer, const ConfigPlace& around) {
    ConfigValue value;
    const auto line = places_.lines.find(pointer);
    value.place =
        line == places_.lines.end() ? around : ConfigPlace{file_, line->second, /*column=*/0};
    if (json.is_object()) {
      AddMembers(json, pointer, value);
    } else if (json.is_array()) {
      AddElements(json, pointer, value);
    } else {
      SetScalar(json, pointer, value);
    }
    return value;
  }

 private:
  void AddMembers(const Json& json, const std::string& pointer, ConfigValue& value) {
    for (const auto& [key, member] : json.items()) {
      if (member.is_null()) continue;
      value.members.push_back({key, Convert(member, PointerTo(pointer, key), value.place)});
    }
    // Sort members by their position in the file, not alphabetically.
    std::ranges::stable_sort(value.members, {},
                             [](const ConfigMember& member) { return member.value.place.line; });
  }

  void AddElements(const Json& json, const std::string& pointer, ConfigValue& value) {
    value.kind = ConfigValue::Kind::kArray;
    for (size_t i = 0; i < json.size(); ++i) {
      value.elements.push_back(Convert(json[i], pointer + "/" + std::to_string(i), value.place));
    }
  }

  void SetScalar(const Json& json, const std::string& pointer, ConfigValue& value) {
    if (json.is_string()) {
      value.kind = ConfigValue::Kind::kString;
      value.text = json.get<std::string>();
    } else if (json.is_boolean()) {
      value.kind = ConfigValue::Kind::kBool;
      value.boolean = json.get<bool>();
    } else if (json.is_number_float()) {
      value.kind = ConfigValue::Kind::kFloat;
      value.number = json.get<double>();
    } else if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
      errors_.Expected(value.place, PathOfPointer(pointer), "a whole number of 64 bits",
                       DumpJson(json));
    } else if (json.is_number()) {
      value.kind = ConfigValue::Kind::kInt;
      value.integer = json.get<int64_t>();
    } else {
      errors_.Expected(value.place, PathOfPointer(pointer), "a value", "null within an array");
    }
  }

  // Returns the path of a JSON pointer: "profiles[0].plugins".
  static std::string PathOfPointer(const std::string& pointer) {
    return ArgsKey(pointer).substr(std::string_view("args.").size());
  }

  const std::string& file_;
  const DocumentPlaces& places_;
  ConfigErrors& errors_;
};

// Removes "line N, column M: " from the beginning of `message` and returns it as a place.
ConfigPlace ParsePlace(std::string_view& message, const std::string& file) {
  ConfigPlace place{file, 0, 0};
  constexpr std::string_view kLine = "line ";
  constexpr std::string_view kColumn = ", column ";
  if (!message.starts_with(kLine)) return place;
  const char* end = message.data() + message.size();
  auto number = std::from_chars(message.data() + kLine.size(), end, place.line);
  if (!std::string_view(number.ptr, end).starts_with(kColumn)) return place;
  number = std::from_chars(number.ptr + kColumn.size(), end, place.column);
  const size_t taken = static_cast<size_t>(number.ptr - message.data());
  message.remove_prefix(std::min(taken + 2, message.size()));
  return place;
}

struct Parsed {
  Json json;
  DocumentPlaces places;
};

std::optional<Parsed> ParseJsonDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors) {
  if (const auto error = FindSyntaxError(text)) {
    errors.AddAlone({file, static_cast<uint32_t>(LineAt(text, error->offset)), 0},
                    "not JSON: " + error->message);
    return std::nullopt;
  }
  if (IsNestedDeeper(text, kMaxDocumentDepth)) {
    errors.AddAlone({file, 0, 0}, "expected at most " + std::to_string(kMaxDocumentDepth) +
                                      " nested arrays and objects, found more");
    return std::nullopt;
  }
  Parsed parsed{ParseJson(text), PlacesOfJson(text)};
  if (parsed.json.is_discarded()) {  // Several values, or an incomplete surrogate pair.
    errors.AddAlone({file, 0, 0}, "expected one JSON object, found something else");
    return std::nullopt;
  }
  if (parsed.places.repeated.has_value()) {
    const auto& [pointer, line] = *parsed.places.repeated;
    errors.AddAlone({file, line, 0}, "expected each key once, found " +
                                         Quoted(pointer.substr(pointer.rfind('/') + 1)) +
                                         " twice in one object");
    return std::nullopt;
  }
  return parsed;
}

std::optional<Parsed> ParseYamlDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors) {
  const auto documents = YamlToJson(text, kYamlLimits);
  if (!documents.ok()) {
    const Status status = documents.status();
    std::string_view message = status.message();
    const ConfigPlace place = ParsePlace(message, file);
    errors.AddAlone(place, "not YAML: " + std::string(message));
    return std::nullopt;
  }
  if (documents->size() != 1) {
    ConfigPlace place{file, 0, 0};
    if (documents->size() > 1) place.line = static_cast<uint32_t>((*documents)[1].line);
    errors.AddAlone(place, "expected one document, found " +
                               (documents->empty() ? std::string("none") : "several"));
    return std::nullopt;
  }
  Parsed parsed{ParseJson(documents->front().json), PlacesOfYaml(text)};
  return parsed;
}

// A text that begins with '{' may be JSON, or a YAML flow mapping.
std::optional<Parsed> Parse(std::string_view text, const std::string& file, ConfigErrors& errors) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{')
    return ParseYamlDocument(text, file, errors);
  if (FindSyntaxError(text).has_value()) {
    ConfigErrors ignored;
    auto parsed = ParseYamlDocument(text, file, ignored);
    if (parsed.has_value()) return parsed;
  }
  return ParseJsonDocument(text, file, errors);
}

}  // namespace

std::optional<ConfigValue> ReadDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors) {
  if (text.size() > kMaxConfigBytes) {
    errors.AddAlone({file, 0, 0}, "expected a file of at most " + std::to_string(kMaxConfigBytes) +
                                      " bytes, found more");
    return std::nullopt;
  }
  const auto parsed = Parse(text, file, errors);
  if (!parsed.has_value()) return std::nullopt;
  if (!parsed->json.is_object()) {
    errors.AddAlone({file, 0, 0}, "expected an object, found something else");
    return std::nullopt;
  }
  const size_t before = errors.size();
  ConfigValue root =
      DocumentConverter(file, parsed->places, errors).Convert(parsed->json, "", {file, 0, 0});
  if (errors.size() != before) return std::nullopt;
  return root;
}

}  // namespace berth::host
