#include "host/config/table_reader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

constexpr size_t kMaxNames = 1000;

}  // namespace

const ConfigValue* TableReader::Any(std::string_view key) {
  known_.emplace_back(key);
  return table_.Find(key);
}

const ConfigValue* TableReader::AnyUnsuggested(std::string_view key) {
  rejected_.emplace_back(key);
  return table_.Find(key);
}

std::optional<Placed<bool>> TableReader::Bool(std::string_view key) {
  const ConfigValue* value = Any(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == ConfigValue::Kind::kBool) return Placed<bool>{value->boolean, value->place};
  Mismatch(key, *value, "true or false");
  return std::nullopt;
}

std::optional<Placed<int64_t>> TableReader::Int(std::string_view key, int64_t min, int64_t max) {
  const ConfigValue* value = Any(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == ConfigValue::Kind::kInt && value->integer >= min && value->integer <= max) {
    return Placed<int64_t>{value->integer, value->place};
  }
  std::string expected = "a whole number of at least " + std::to_string(min);
  if (max != INT64_MAX) {
    expected = "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
  }
  Mismatch(key, *value, expected);
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
  const ConfigValue* value = Any(key);
  if (value == nullptr) return std::nullopt;
  const bool is_whole = value->kind == ConfigValue::Kind::kInt;
  if (is_whole || value->kind == ConfigValue::Kind::kFloat) {
    const double number = is_whole ? static_cast<double>(value->integer) : value->number;
    if (number >= min && number <= max) return Placed<double>{number, value->place};
  }
  std::array<char, 96> expected;
  std::snprintf(expected.data(), expected.size(), "a number from %g to %g", min, max);
  Mismatch(key, *value, expected.data());
  return std::nullopt;
}

std::optional<Placed<std::string>> TableReader::String(std::string_view key,
                                                       std::string_view what) {
  const ConfigValue* value = Any(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string() && !value->text.empty()) {
    return Placed<std::string>{value->text, value->place};
  }
  Mismatch(key, *value, what);
  return std::nullopt;
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
      Mismatch(key, element, std::string("an array of ").append(what));
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

}  // namespace berth::host
