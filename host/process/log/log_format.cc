#include "host/process/log/log_format.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <vector>

#include <nlohmann/json.hpp>

#include <berth/abi.h>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using LogJson = nlohmann::ordered_json;

// ---- Characters ---------------------------------------------------------------------------------

// A character of a text in UTF-8. Invalid UTF-8 is a character of one byte.
struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool is_valid = false;
};

Utf8Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {.code = lead, .bytes = 1, .is_valid = true};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {.code = lead};
  constexpr std::array<uint32_t, 5> kLeadBits = {0, 0, 0x1F, 0x0F, 0x07};
  uint32_t code = lead & kLeadBits[bytes];
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuationByte(text[i])) return {.code = lead};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || is_surrogate) return {.code = lead};
  return {.code = code, .bytes = bytes, .is_valid = true};
}

struct CodeRange {
  uint32_t first;
  uint32_t last;
};
// The characters that Go's strconv.IsPrint() refuses and that have an effect on a terminal or a
// reader: controls, spaces except the ASCII space, separators of lines, characters that change the
// direction of text or are not visible, private use, and codes that are no characters. Codes that
// Unicode has not assigned are written as they are.
constexpr std::array<CodeRange, 27> kNotPrintable = {
    {{0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},       {0x600, 0x605},
     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},
     {0x8E2, 0x8E2},     {0x1680, 0x1680},   {0x180E, 0x180E},   {0x2000, 0x200F},
     {0x2028, 0x202F},   {0x205F, 0x2064},   {0x2065, 0x206F},   {0x3000, 0x3000},
     {0xE000, 0xF8FF},   {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},
     {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},
     {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0x10FFFF}}};

bool IsPrintable(uint32_t code) {
  return std::ranges::none_of(kNotPrintable, [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

void AppendHex(std::string& out, const char* format, uint32_t number) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), format, number);
  out += text.data();
}

// Returns the letter of the escape of a control character, such as 'n'; 0 if it has none.
char EscapeLetter(uint32_t code) {
  constexpr std::string_view kLetters = "abtnvfr";  // For the codes from '\a' to '\r'.
  return code >= '\a' && code <= '\r' ? kLetters[code - '\a'] : '\0';
}

// Appends an escape of Go for a character that is not printable.
void AppendEscape(std::string& out, const Utf8Character& character) {
  if (const char letter = EscapeLetter(character.code); letter != 0) {
    out.append(1, '\\').append(1, letter);
  } else if (!character.is_valid || character.code < 0x20 || character.code == 0x7F) {
    AppendHex(out, "\\x%02x", character.code);
  } else if (character.code < 0x10000) {
    AppendHex(out, "\\u%04x", character.code);
  } else {
    AppendHex(out, "\\U%08x", character.code);
  }
}

// Returns `text` with Go's escapes for what is not printable. Backslashes and double quotes are
// escaped if `quotes` is true.
std::string Escaped(std::string_view text, bool quotes) {
  std::string escaped;
  escaped.reserve(text.size() + 2);
  while (!text.empty()) {
    const Utf8Character character = FirstCharacter(text);
    if (!character.is_valid || !IsPrintable(character.code)) {
      AppendEscape(escaped, character);
    } else {
      if (quotes && (character.code == '"' || character.code == '\\')) escaped += '\\';
      escaped.append(text.substr(0, character.bytes));
    }
    text.remove_prefix(character.bytes);
  }
  return escaped;
}

bool IsNameCharacter(char c) {
  return IsLetter(c) || IsDigit(c) || c == '.' || c == '_' || c == '-' || c == '/';
}

// Returns a key or the name of a logger as it is; quoted if a reader could take it for something
// else.
std::string NameText(std::string_view name) {
  if (!name.empty() && std::ranges::all_of(name, IsNameCharacter)) return std::string(name);
  return GoQuoted(name);
}

// Returns the key of a pair, different from the keys that a form writes itself.
std::string KeyText(std::string_view key) {
  constexpr std::array<std::string_view, 6> kOwn = {"ts", "level", "logger", "msg", "v", "err"};
  std::string text(key);
  if (std::ranges::find(kOwn, key) != kOwn.end()) text += '_';
  return text;
}

// ---- Forms --------------------------------------------------------------------------------------

// Returns "1123 09:26:10.000000".
std::string KlogTime(int64_t wall_ns) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(wall_ns)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const int64_t micros = (time - day).count() / kMicrosecond;
  const int64_t seconds = micros / 1'000'000;
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%02u%02u %02d:%02d:%02d.%06d",
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int32_t>(seconds / 3600), static_cast<int32_t>(seconds / 60 % 60),
                static_cast<int32_t>(seconds % 60), static_cast<int32_t>(micros % 1'000'000));
  return text.data();
}

void AppendPairs(std::string& line, const LogRecord& record) {
  for (const LogField& field : record.fields) {
    line.append(" ").append(NameText(KeyText(field.key))).append("=").append(GoQuoted(field.value));
  }
}

std::string FormatKlog(const LogRecord& record, int64_t wall_ns, int32_t pid) {
  std::array<char, 16> process;
  std::snprintf(process.data(), process.size(), " %7d ", pid);
  std::string line(1, KlogLevelOf(record.level).letter);
  line.append(KlogTime(wall_ns)).append(process.data());
  line.append(NameText(record.logger.empty() ? "berth" : record.logger)).append("] ");
  line.append(GoQuoted(record.message));
  if (!record.error.empty()) line.append(" err=").append(GoQuoted(record.error));
  AppendPairs(line, record);
  return line;
}

std::string FormatPlain(const LogRecord& record) {
  std::string line = "berth: ";
  line.append(LogLevelName(record.level)).append(": ");
  if (!record.logger.empty()) line.append(Escaped(record.logger, false)).append(": ");
  line.append(Escaped(record.message, false));
  if (!record.error.empty()) line.append(": ").append(Escaped(record.error, false));
  AppendPairs(line, record);
  return line;
}

// Returns the milliseconds since 1970 with up to three decimals, as a JSON number.
std::string JsonTime(int64_t wall_ns) {
  const int64_t micros = wall_ns / kMicrosecond;
  const bool is_negative = micros < 0;
  const int64_t size = is_negative ? -micros : micros;
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%s%lld.%03lld", is_negative ? "-" : "",
                static_cast<long long>(size / 1000), static_cast<long long>(size % 1000));
  std::string number = text.data();
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

// Returns the JSON text. Characters that are not printable are escaped, also where JSON does not
// require it.
std::string PrintableJson(const LogJson& json) {
  const std::string dumped = DumpJson(json);
  std::string text;
  text.reserve(dumped.size());
  for (std::string_view rest = dumped; !rest.empty();) {
    const Utf8Character character = FirstCharacter(rest);
    if (IsPrintable(character.code)) {
      text.append(rest.substr(0, character.bytes));
    } else if (character.code < 0x10000) {
      AppendHex(text, "\\u%04x", character.code);
    } else {  // A surrogate pair.
      AppendHex(text, "\\u%04x", 0xD800 + ((character.code - 0x10000) >> 10));
      AppendHex(text, "\\u%04x", 0xDC00 + (character.code & 0x3FF));
    }
    rest.remove_prefix(character.bytes);
  }
  return text;
}

// Returns the value of a pair: an object with name and namespace for the references to pods and
// nodes.
LogJson FieldJson(const LogField& field) {
  if (field.key == "node") return {{"name", field.value}};
  const size_t slash = field.value.find('/');
  if (field.key != "pod" || slash == std::string_view::npos) return field.value;
  return {{"name", field.value.substr(slash + 1)}, {"namespace", field.value.substr(0, slash)}};
}

std::string FormatJson(const LogRecord& record, int64_t wall_ns) {
  // The text of the number is inserted as it is, because a double would not have all its digits.
  std::string line = "{\"ts\":" + JsonTime(wall_ns);
  const auto append = [&line](std::string_view key, const LogJson& value) {
    line.append(",").append(PrintableJson(LogJson(key))).append(":").append(PrintableJson(value));
  };
  append("level", LogLevelName(record.level));
  if (!record.logger.empty()) append("logger", record.logger);
  append("msg", record.message);
  if (record.level < BERTH_LOG_WARN) append("v", KlogLevelOf(record.level).v);
  for (const LogField& field : record.fields) append(KeyText(field.key), FieldJson(field));
  if (!record.error.empty()) append("err", record.error);
  return line += '}';
}

}  // namespace

KlogLevel KlogLevelOf(uint32_t level) {
  constexpr std::array<KlogLevel, 5> kLevels = {{{.letter = 'I', .v = 6},
                                                 {.letter = 'I', .v = 4},
                                                 {.letter = 'I', .v = 0},
                                                 {.letter = 'W', .v = 0},
                                                 {.letter = 'E', .v = 0}}};
  return kLevels[std::min<size_t>(level, kLevels.size() - 1)];
}

Result<uint32_t> ReadLogLevel(std::string_view text) {
  if (const auto level = FindLogLevel(text); level.has_value()) return *level;
  if (IsNumber(text)) {
    const size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
    const std::string_view digits = text.substr(first);
    if (digits.size() > 1 || digits[0] >= '6') return uint32_t{BERTH_LOG_TRACE};
    return uint32_t{digits[0] >= '4' ? BERTH_LOG_DEBUG : BERTH_LOG_INFO};
  }
  std::vector<std::string> names;
  names.reserve(std::size(kLogLevels));
  for (const auto& [name, level] : kLogLevels) names.emplace_back(name);
  return Status::InvalidArgument("expected one of " + Join(names, ", ") +
                                 ", or a number as kube-scheduler's -v, found " + Quoted(text) +
                                 DidYouMean(text, names));
}

std::string FormatRecord(const LogRecord& record, LogFormat format, int64_t wall_ns, int32_t pid) {
  switch (format) {
    case LogFormat::kKlog: return FormatKlog(record, wall_ns, pid);
    case LogFormat::kJsonLines: return FormatJson(record, wall_ns);
    case LogFormat::kPlain: return FormatPlain(record);
  }
  return {};
}

std::string GoQuoted(std::string_view text) { return '"' + Escaped(text, true) + '"'; }

}  // namespace berth::host
