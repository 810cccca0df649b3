#include "host/base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "host/base/assert.h"

namespace berth::host {
namespace {

// Returns how many bytes of `text`, at most `max_bytes`, are whole UTF-8 characters.
size_t WholeCharacters(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text.size();
  size_t end = max_bytes;
  while (end > 0 && IsContinuationByte(text[end])) --end;
  return end;
}

}  // namespace

bool IsNumber(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsDigit); }

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ToLower(c);
  return lower;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::string Join(std::span<const std::string> texts, std::string_view separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (&text != texts.data()) joined += separator;
    joined += text;
  }
  return joined;
}

std::string Truncate(std::string_view text, size_t max_bytes, std::string_view mark) {
  BERTH_ASSERT(mark.size() <= max_bytes);
  if (text.size() <= max_bytes) return std::string(text);
  return std::string(text.substr(0, WholeCharacters(text, max_bytes - mark.size()))).append(mark);
}

std::string Quoted(std::string_view text, size_t max_bytes) {
  const size_t shown = WholeCharacters(text, max_bytes);
  std::string quoted = "\"";
  for (const char c : text.substr(0, shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      quoted += c;
      continue;
    }
    std::array<char, 8> escaped;
    std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
    quoted += escaped.data();
  }
  if (shown < text.size()) quoted += "...";
  return quoted += '"';
}

}  // namespace berth::host
