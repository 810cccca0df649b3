#include "host/api/yaml_text.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <istream>
#include <streambuf>
#include <system_error>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/parser.h>

#include "host/base/assert.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

struct YamlWord {
  std::string_view text;
  ScalarKind kind;
  std::string_view json;
};

// The words in lower case. IsWord() also accepts Capitalised and CAPITALS.
constexpr std::array kYamlWords = {
    YamlWord{"true", ScalarKind::kBool, "true"}, YamlWord{"false", ScalarKind::kBool, "false"},
    YamlWord{"yes", ScalarKind::kBool, "true"},  YamlWord{"no", ScalarKind::kBool, "false"},
    YamlWord{"on", ScalarKind::kBool, "true"},   YamlWord{"off", ScalarKind::kBool, "false"},
    YamlWord{"y", ScalarKind::kBool, "true"},    YamlWord{"n", ScalarKind::kBool, "false"},
    YamlWord{"null", ScalarKind::kNull, "null"}, YamlWord{"~", ScalarKind::kNull, "null"},
};

constexpr std::array<std::string_view, 12> kNotFinite = {".nan",  ".NaN",  ".NAN",  ".inf",
                                                         ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

// Returns whether `text` is `word`, Word or WORD.
bool IsWord(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  bool rest_upper = true;
  bool rest_lower = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (ToLower(text[i]) != word[i]) return false;
    if (i == 0) continue;
    rest_upper = rest_upper && IsUpper(text[i]);
    rest_lower = rest_lower && !IsUpper(text[i]);
  }
  return rest_lower || (rest_upper && IsUpper(text[0]));
}

// Returns the base that Go's strconv.ParseInt(text, 0, 64) detects, and removes its prefix from
// `digits`.
int32_t TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = ToLower(digits[1]);
  const bool has_letter = letter == 'x' || letter == 'b' || letter == 'o';
  digits.remove_prefix(has_letter ? 2 : 1);
  return letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
}

ScalarKind ResolveInt(std::string_view text, std::string& json) {
  const bool negative = text[0] == '-';
  std::string_view digits = text;
  if (text[0] == '-' || text[0] == '+') digits.remove_prefix(1);
  const int32_t base = TakeBase(digits);
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error == std::errc::invalid_argument || stop != end) return ScalarKind::kString;
  const bool fits = error == std::errc() && (!negative || value <= uint64_t{1} << 63) &&
                    (text[0] != '+' || value < uint64_t{1} << 63);
  // ResolveNumber() resolves a decimal that does not fit as a float.
  if (!fits) return base == 10 ? ScalarKind::kString : ScalarKind::kTooLarge;
  json.clear();
  if (negative && value != 0) json += '-';
  json += std::to_string(value);
  return ScalarKind::kInt;
}

// Returns whether `text` matches [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  const auto sign = [&] {
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  };
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i - begin;
  };
  sign();
  const size_t whole = digits();
  size_t fraction = 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    fraction = digits();
  }
  if (whole + fraction == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    sign();
    if (digits() == 0) return false;
  }
  return i == text.size();
}

ScalarKind ResolveFloat(std::string_view text, std::string& json) {
  if (!LooksLikeFloat(text)) return ScalarKind::kString;
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // from_chars does not report whether the number is too small or too large. A number that is too
    // small becomes 0; one that is too large stays a string.
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (!std::isfinite(value)) return ScalarKind::kString;
  }
  // Choose between the notations as Go's encoding/json does.
  const double magnitude = std::fabs(value);
  const bool plain = value == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  std::array<char, 64> buffer;
  const auto [end, failed] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  BERTH_ASSERT(failed == std::errc());
  json.assign(buffer.data(), end);
  return ScalarKind::kFloat;
}

ScalarKind ResolveNumber(std::string_view text, std::string& json) {
  std::string without_underscores;
  if (text.find('_') != std::string_view::npos) {
    without_underscores = text;
    std::erase(without_underscores, '_');
    text = without_underscores;
  }
  const ScalarKind kind = ResolveInt(text, json);
  return kind == ScalarKind::kString ? ResolveFloat(text, json) : kind;
}

// Returns the length of the UTF-8 sequence at `at`; 0 if it is invalid.
size_t Utf8Length(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  if (lead < 0x80) return 1;
  const std::string_view sequence = text.substr(at, static_cast<size_t>(std::countl_one(lead)));
  // A sequence that the end of the text cuts off is not valid.
  return simdjson::validate_utf8(sequence) ? sequence.size() : 0;
}

// Lets a std::istream read a text without a copy.
// Lifetime: the text must outlive the buffer.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

ScalarKind ResolvePlainScalar(std::string_view text, std::string& json) {
  if (text.empty()) {
    json = "null";
    return ScalarKind::kNull;
  }
  if (std::string_view("yYnNtTfFoO~").find(text[0]) != std::string_view::npos) {
    for (const YamlWord& word : kYamlWords) {
      if (!IsWord(text, word.text)) continue;
      json = word.json;
      return word.kind;
    }
    return ScalarKind::kString;
  }
  if (text[0] != '.' && text[0] != '+' && text[0] != '-') {
    return IsDigit(text[0]) ? ResolveNumber(text, json) : ScalarKind::kString;
  }
  if (std::ranges::find(kNotFinite, text) != kNotFinite.end()) return ScalarKind::kNotFinite;
  // Underscores are ignored only in numbers that begin with a sign or a digit.
  return text[0] == '.' ? ResolveFloat(text, json) : ResolveNumber(text, json);
}

void AppendJsonString(std::string_view text, std::string& json) {
  constexpr std::string_view kHex = "0123456789abcdef";
  json += '"';
  size_t copied = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') [[likely]]
      continue;
    json.append(text, copied, i - copied);
    copied = i + 1;
    json += '\\';
    switch (c) {
      case '"': json += '"'; break;
      case '\\': json += '\\'; break;
      case '\n': json += 'n'; break;
      case '\t': json += 't'; break;
      case '\r': json += 'r'; break;
      default: json.append("u00").append(1, kHex[c >> 4]).append(1, kHex[c & 15]);
    }
  }
  json.append(text, copied, text.size() - copied);
  json += '"';
}

Status AtPlace(ErrorCode code, int64_t line, int64_t column, std::string_view message) {
  return Status(code, std::string("line ")
                          .append(std::to_string(line))
                          .append(", column ")
                          .append(std::to_string(column))
                          .append(": ")
                          .append(message));
}

Status CheckCharacters(std::string_view text) {
  size_t line = 1;
  size_t line_begin = 0;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<uint8_t>(text[at]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
    const size_t length = control ? 0 : Utf8Length(text, at);
    if (length == 0) {
      return AtPlace(ErrorCode::kInvalidArgument, static_cast<int64_t>(line),
                     static_cast<int64_t>(at - line_begin + 1),
                     control ? "control characters are not allowed" : "this is not valid UTF-8");
    }
    at += length;
    if (c == '\n') {
      ++line;
      line_begin = at;
    }
  }
  return Status::Ok();
}

void ParseYaml(std::string_view text, YAML::EventHandler& handler) {
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(handler)) {
  }
}

}  // namespace berth::host
