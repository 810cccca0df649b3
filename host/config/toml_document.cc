#include "host/config/toml_document.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "host/config/toml_limits.h"

// The one file that sees toml++.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace berth::host {
namespace {

using Kind = ConfigValue::Kind;

class Converter {
 public:
  Converter(const std::string& file, ConfigErrors& errors) : file_(file), errors_(errors) {}

  ConfigValue Table(const toml::table& table, ConfigPlace place) {
    ConfigValue value;
    value.place = std::move(place);
    for (const auto& [key, node] : table) {
      value.members.push_back(
          {std::string(key.str()), Node(node, Place(key.source()), std::string(key.str()))});
    }
    return value;
  }

 private:
  ConfigPlace Place(const toml::source_region& region) const {
    return {file_, region.begin.line, region.begin.column};
  }

  ConfigValue Node(const toml::node& node, ConfigPlace place, const std::string& key) {
    // An array of tables was said where its first table is.
    if (const toml::table* table = node.as_table()) return Table(*table, std::move(place));
    ConfigValue value;
    value.place = std::move(place);
    if (const toml::array* array = node.as_array()) {
      value.kind = Kind::kArray;
      for (const toml::node& element : *array) {
        value.elements.push_back(Node(element, Place(element.source()), key));
      }
    } else if (const auto* text = node.as_string()) {
      value.kind = Kind::kString;
      value.text = text->get();
    } else if (const auto* integer = node.as_integer()) {
      value.kind = Kind::kInt;
      value.integer = integer->get();
    } else if (const auto* boolean = node.as_boolean()) {
      value.kind = Kind::kBool;
      value.boolean = boolean->get();
    } else if (const auto* number = node.as_floating_point()) {
      value.kind = Kind::kFloat;
      SetNumber(number->get(), key, value);
    } else {
      value.kind = Kind::kTime;
      errors_.Expected(value.place, key, "a text, number, truth value, array or table",
                       "a date or time");
    }
    return value;
  }

  void SetNumber(double number, const std::string& key, ConfigValue& value) {
    if (std::isfinite(number)) {
      value.number = number;
    } else {
      errors_.Expected(value.place, key, "a finite number", std::isnan(number) ? "nan" : "inf");
    }
  }

  const std::string& file_;
  ConfigErrors& errors_;
};

bool IsWithinLimits(std::string_view text, const std::string& file, ConfigErrors& errors) {
  if (text.size() > kMaxConfigBytes) {
    errors.AddAlone({file, 0, 0}, "expected a file of at most " + std::to_string(kMaxConfigBytes) +
                                      " bytes, found " + std::to_string(text.size()));
    return false;
  }
  const auto excess = FindTomlExcess(text, kMaxTomlDepth, kMaxTomlKeyParts);
  if (!excess.has_value()) return true;
  const std::string expected =
      excess->is_key
          ? "a key of at most " + std::to_string(kMaxTomlKeyParts) + " parts"
          : "at most " + std::to_string(kMaxTomlDepth) + " arrays and tables within each other";
  errors.AddAlone({file, excess->line, 0}, "expected " + expected + ", found more");
  return false;
}

}  // namespace

std::optional<ConfigValue> ParseToml(std::string_view text, const std::string& file,
                                     ConfigErrors& errors) {
  if (!IsWithinLimits(text, file, errors)) return std::nullopt;
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    const toml::source_position at = error.source().begin;
    errors.AddAlone({file, at.line, at.column}, "not TOML: " + std::string(error.description()) +
                                                    " (column " + std::to_string(at.column) + ")");
    return std::nullopt;
  }
  return Converter(file, errors).Table(parsed.table(), {file, 0, 0});
}

}  // namespace berth::host
