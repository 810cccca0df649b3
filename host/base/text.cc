#include "host/base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

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

std::optional<std::string> DecodePercent(std::string_view text) {
  const auto digit = [](char c) { return IsDigit(c) ? c - '0' : ToLower(c) - 'a' + 10; };
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    if (at + 2 >= text.size() || !IsHexDigit(text[at + 1]) || !IsHexDigit(text[at + 2])) {
      return std::nullopt;
    }
    decoded += static_cast<char>(digit(text[at + 1]) * 16 + digit(text[at + 2]));
    at += 2;
  }
  return decoded;
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

namespace {

// Appends the text with its control characters written as "\x1b".
void AppendPrintable(std::string& to, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      to += c;
      continue;
    }
    std::array<char, 8> escaped;
    std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
    to += escaped.data();
  }
}

}  // namespace

std::string Quoted(std::string_view text, size_t max_bytes) {
  const size_t shown = WholeCharacters(text, max_bytes);
  std::string quoted = "\"";
  AppendPrintable(quoted, text.substr(0, shown));
  if (shown < text.size()) quoted += "...";
  return quoted += '"';
}

std::string OneLine(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view part = TrimSpace(text.substr(0, end));
    if (!part.empty()) AppendPrintable(line.append(line.empty() ? "" : "; "), part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return line;
}

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string CountOf(size_t count, std::string_view noun) {
  return WithCommas(count).append(1, ' ').append(noun).append(count == 1 ? "" : "s");
}

size_t EditDistance(std::string_view a, std::string_view b) {
  // The distances from the first i characters of `a` to the first j characters of `b`.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  std::vector<size_t> above(row.size());   // The row of i - 1.
  std::vector<size_t> before(row.size());  // The row of i - 2.
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::vector<std::string> NearMisses(std::string_view wanted, std::span<const std::string> names) {
  constexpr size_t kMaxSuggestions = 3;
  std::vector<std::pair<size_t, std::string_view>> near;
  const size_t limit = std::max<size_t>(1, wanted.size() / 3);
  for (const std::string& name : names) {
    const size_t longer = std::max(name.size(), wanted.size());
    const size_t shorter = std::min(name.size(), wanted.size());
    const bool part = !wanted.empty() && name.find(wanted) != std::string::npos;
    if (longer - shorter > limit && !part) continue;
    const size_t distance = EditDistance(wanted, name);
    if (distance <= limit || part) near.emplace_back(std::min(distance, limit), name);
  }
  const size_t count = std::min(near.size(), kMaxSuggestions);
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::string> misses;
  for (size_t i = 0; i < count; ++i) misses.emplace_back(near[i].second);
  return misses;
}

std::string DidYouMean(std::string_view wanted, std::span<const std::string> names) {
  const auto misses = NearMisses(wanted, names);
  if (misses.empty()) return "";
  std::string text = "; did you mean ";
  for (size_t i = 0; i < misses.size(); ++i) {
    if (i > 0) text += i + 1 == misses.size() ? " or " : ", ";
    text += misses[i];
  }
  return text + "?";
}

}  // namespace berth::host
