#include "tests/bench/workloads/json_fields.h"

#include <algorithm>

namespace berth::bench {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxNumber = 1'000'000'000'000'000'000;

constexpr std::string_view kText = "a string";
constexpr std::string_view kNumber = "a number from 0 to 1e18";
constexpr std::string_view kNumberOrNull = "a number from 0 to 1e18, or null";
constexpr std::string_view kWhole = "a whole number from 0 to 1e18";
constexpr std::string_view kWhole32 = "a whole number from 0 to 4294967295";
constexpr std::string_view kNumbers = "an array of numbers from 0 to 1e18";
constexpr std::string_view kTexts = "an array of strings";

bool IsNumber(const json& found) {
  return found.is_number() && found.get<double>() >= 0 && found.get<double>() <= double{kMaxNumber};
}

bool IsWhole(const json& found, uint64_t most) {
  return found.is_number_unsigned() && found.get<uint64_t>() <= most;
}

template <class T>
std::string_view TakeIf(bool is_right, const json& found, T& value, std::string_view expected) {
  if (!is_right) return expected;
  found.get_to(value);
  return {};
}

}  // namespace

std::string_view FieldReader::Take(const json& found, std::string& value) {
  return TakeIf(found.is_string(), found, value, kText);
}

std::string_view FieldReader::Take(const json& found, double& value) {
  return TakeIf(IsNumber(found), found, value, kNumber);
}

std::string_view FieldReader::Take(const json& found, std::optional<double>& value) {
  if (found.is_null()) return {};
  return TakeIf(IsNumber(found), found, value.emplace(), kNumberOrNull);
}

std::string_view FieldReader::Take(const json& found, int64_t& value) {
  return TakeIf(IsWhole(found, kMaxNumber), found, value, kWhole);
}

std::string_view FieldReader::Take(const json& found, uint64_t& value) {
  return TakeIf(IsWhole(found, kMaxNumber), found, value, kWhole);
}

std::string_view FieldReader::Take(const json& found, uint32_t& value) {
  return TakeIf(IsWhole(found, UINT32_MAX), found, value, kWhole32);
}

std::string_view FieldReader::Take(const json& found, std::vector<double>& value) {
  const bool is_right = found.is_array() && std::ranges::all_of(found, IsNumber);
  return TakeIf(is_right, found, value, kNumbers);
}

std::string_view FieldReader::Take(const json& found, std::vector<std::string>& value) {
  const auto is_text = [](const json& each) { return each.is_string(); };
  return TakeIf(found.is_array() && std::ranges::all_of(found, is_text), found, value, kTexts);
}

std::string FieldReader::Describe(const json& found) {
  constexpr size_t kLongest = 60;
  if (found.is_array()) return "an array";
  if (found.is_object()) return "an object";
  std::string text = found.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}

}  // namespace berth::bench
