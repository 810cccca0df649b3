#include "host/config/config_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "host/base/text.h"
#include "host/base/time.h"
#include "host/config/args_schema.h"

namespace berth::host {
namespace {

// Converts the arguments of a plugin, and adds their places and texts to `args`.
class ArgsConverter {
 public:
  ArgsConverter(const std::string& context, ProfileArgs& args, ConfigErrors& errors)
      : context_(context), args_(args), errors_(errors) {}

  nlohmann::json ToJson(const ConfigValue& value, const std::string& pointer) {
    args_.places[pointer] = value.place;
    switch (value.kind) {
      case ConfigValue::Kind::kBool: return value.boolean;
      case ConfigValue::Kind::kInt: return value.integer;
      case ConfigValue::Kind::kString: return value.text;
      case ConfigValue::Kind::kFloat:
        if (!std::isfinite(value.number)) return Reject(value, pointer, "a finite number");
        if (!value.text.empty()) args_.texts[pointer] = value.text;
        return value.number;
      case ConfigValue::Kind::kTime:
        return Reject(value, pointer, "a string, number, boolean, array or table");
      case ConfigValue::Kind::kArray: {
        nlohmann::json array = nlohmann::json::array();
        for (size_t i = 0; i < value.elements.size(); ++i) {
          array.push_back(ToJson(value.elements[i], pointer + "/" + std::to_string(i)));
        }
        return array;
      }
      case ConfigValue::Kind::kTable: break;
    }
    nlohmann::json object = nlohmann::json::object();
    for (const ConfigMember& member : value.members) {
      object[member.key] = ToJson(member.value, PointerTo(pointer, member.key));
    }
    return object;
  }

 private:
  nlohmann::json Reject(const ConfigValue& value, const std::string& pointer,
                        std::string_view expected) {
    args_.texts[pointer] = value.text;
    errors_.Expected(value.place, context_ + ArgsKey(pointer), expected, value.Describe());
    return nullptr;
  }

  const std::string& context_;
  ProfileArgs& args_;
  ConfigErrors& errors_;
};

constexpr size_t kMaxNames = 1000;

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
    case Kind::kFloat: return "the number " + (text.empty() ? NumberText(number) : text);
    case Kind::kString: return Quoted(text);
    case Kind::kTime: return text;
    case Kind::kArray: return elements.empty() ? "an empty array" : "an array";
    case Kind::kTable: break;
  }
  return "a table";
}

std::string IntegerAdvice(double number) {
  constexpr double kMax = 1e15;  // Every smaller integer is a double.
  const bool is_whole = std::abs(number) < kMax && number == std::trunc(number);
  if (!is_whole) return "";
  return ", which is not written as an integer; write " +
         std::to_string(static_cast<int64_t>(number));
}

ProfileArgs ToArgs(const ConfigValue& value, const std::string& context, ConfigErrors& errors) {
  ProfileArgs args;
  nlohmann::json json = ArgsConverter(context, args, errors).ToJson(value, "");
  args.value = std::move(json);
  return args;
}

std::string PointerTo(std::string_view pointer, std::string_view key) {
  return (nlohmann::json::json_pointer(std::string(pointer)) / std::string(key)).to_string();
}

// ---- Reading ------------------------------------------------------------------------------------

const ConfigValue* TableReader::Any(std::string_view key) {
  known_.emplace_back(key);
  return table_.Find(key);
}

const ConfigValue* TableReader::AnyUnsuggested(std::string_view key) {
  rejected_.emplace_back(key);
  return table_.Find(key);
}

template <class T, class Get>
std::optional<Placed<T>> TableReader::Read(std::string_view key, std::string_view expected,
                                           Get get) {
  const ConfigValue* value = Any(key);
  if (value == nullptr) return std::nullopt;
  if (const std::optional<T> got = get(*value)) return Placed<T>{*got, value->place};
  Mismatch(key, *value, expected);
  return std::nullopt;
}

std::optional<Placed<bool>> TableReader::Bool(std::string_view key) {
  return Read<bool>(key, "true or false", [](const ConfigValue& value) {
    return value.kind == ConfigValue::Kind::kBool ? std::optional(value.boolean) : std::nullopt;
  });
}

std::optional<Placed<int64_t>> TableReader::Int(std::string_view key, int64_t min, int64_t max) {
  std::string expected = "a whole number of at least " + std::to_string(min);
  if (max != INT64_MAX) {
    expected = "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
  }
  const ConfigValue* value = Any(key);
  if (value == nullptr) return std::nullopt;
  const bool is_int = value->kind == ConfigValue::Kind::kInt;
  if (is_int && value->integer >= min && value->integer <= max) {
    return Placed<int64_t>{value->integer, value->place};
  }
  std::string found = value->Describe();
  if (value->kind == ConfigValue::Kind::kFloat) found += IntegerAdvice(value->number);
  Expected(key, value->place, expected, found);
  return std::nullopt;
}

std::optional<Placed<int64_t>> TableReader::Duration(std::string_view key) {
  return DurationFrom(key, 1, "a duration above 0, such as \"1.5s\" or \"2m\"");
}

std::optional<Placed<int64_t>> TableReader::DurationOrZero(std::string_view key) {
  return DurationFrom(key, 0, "a duration, such as \"1.5s\", \"2m\" or \"0s\"");
}

std::optional<Placed<int64_t>> TableReader::DurationFrom(std::string_view key, int64_t min_ns,
                                                         std::string_view expected) {
  const auto text = String(key, expected);
  if (!text.has_value()) return std::nullopt;
  const Result<int64_t> duration = ParseDuration(text->value);
  if (!duration.ok() || *duration < min_ns) {
    Expected(key, text->place, expected, Quoted(text->value));
    return std::nullopt;
  }
  if (*duration > kMaxDurationNs) {
    Expected(key, text->place, "a duration of at most 8760h, a year", Quoted(text->value));
    return std::nullopt;
  }
  return Placed<int64_t>{*duration, text->place};
}

std::optional<Placed<double>> TableReader::Number(std::string_view key, double min, double max) {
  std::array<char, 96> expected;
  std::snprintf(expected.data(), expected.size(), "a number from %g to %g", min, max);
  return Read<double>(key, expected.data(), [=](const ConfigValue& value) -> std::optional<double> {
    const bool is_whole = value.kind == ConfigValue::Kind::kInt;
    if (!is_whole && value.kind != ConfigValue::Kind::kFloat) return std::nullopt;
    const double number = is_whole ? static_cast<double>(value.integer) : value.number;
    return number >= min && number <= max ? std::optional(number) : std::nullopt;
  });
}

std::optional<Placed<std::string>> TableReader::String(std::string_view key,
                                                       std::string_view what) {
  return Read<std::string>(key, what, [](const ConfigValue& value) {
    const bool is_text = value.is_string() && !value.text.empty();
    return is_text ? std::optional(value.text) : std::nullopt;
  });
}

std::optional<Placed<std::string>> TableReader::StringOrEmpty(std::string_view key,
                                                              std::string_view what) {
  const ConfigValue* value = table_.Find(key);
  if (value == nullptr || !value->is_string() || !value->text.empty()) return String(key, what);
  known_.emplace_back(key);
  return Placed<std::string>{"", value->place};
}

std::optional<std::vector<Placed<std::string>>> TableReader::Strings(std::string_view key,
                                                                     std::string_view what) {
  const ConfigValue* array = Array(key, what);
  if (array == nullptr) return std::nullopt;
  if (array->elements.size() > kMaxNames) {
    Expected(key, array->place, "at most " + std::to_string(kMaxNames) + " " + std::string(what),
             std::to_string(array->elements.size()));
    return std::nullopt;
  }
  std::vector<Placed<std::string>> texts;
  std::set<std::string_view> seen;
  for (const ConfigValue& element : array->elements) {
    if (!element.is_string() || element.text.empty()) {
      Expected(key, element.place, std::string("an array of ").append(what),
               "an array with " + element.Describe());
    } else if (!seen.insert(element.text).second) {
      Expected(key, element.place, "unique values", Quoted(element.text) + " twice");
    } else {
      texts.push_back({element.text, element.place});
    }
  }
  return texts;
}

const ConfigValue* TableReader::Table(std::string_view key) {
  const ConfigValue* value = Any(key);
  if (value == nullptr || value->is_table()) return value;
  Mismatch(key, *value, "a table");
  return nullptr;
}

const ConfigValue* TableReader::Array(std::string_view key, std::string_view what) {
  const ConfigValue* value = Any(key);
  if (value == nullptr || value->is_array()) return value;
  Mismatch(key, *value, std::string("an array of ").append(what));
  return nullptr;
}

void TableReader::End() {
  for (const ConfigMember& member : table_.members) {
    if (std::ranges::find(known_, member.key) != known_.end()) continue;
    if (std::ranges::find(rejected_, member.key) != rejected_.end()) continue;
    const std::string suggestion = DidYouMean(member.key, known_);
    std::string expected = "no keys";
    if (!known_.empty()) expected = "one of " + Join(known_, ", ");
    if (!suggestion.empty()) expected = "a known key";
    Expected(member.key, member.value.place, expected, Quoted(member.key) + suggestion);
  }
}

void TableReader::Expected(std::string_view key, const ConfigPlace& place,
                           std::string_view expected, std::string_view found) {
  errors_.Expected(place, KeyOf(key), expected, found);
}

void TableReader::Mismatch(std::string_view key, const ConfigValue& value,
                           std::string_view expected) {
  Expected(key, value.place, expected, value.Describe());
}

// ---- Paths --------------------------------------------------------------------------------------

bool IsBareProfileName(std::string_view name) {
  return name.find('/') == std::string_view::npos && !name.ends_with(kProfileSuffix);
}

std::string InFolder(std::string_view folder, std::string_view path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string Beside(std::string_view file, std::string_view path) {
  return InFolder(std::filesystem::path(file).parent_path().string(), path);
}

}  // namespace berth::host
