// Functions on text: conversion to and from the plugin ABI, characters, and parts of messages.
#ifndef BERTH_HOST_BASE_TEXT_H_
#define BERTH_HOST_BASE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

namespace berth::host {

// Text and AsStr return views without copying.
// Lifetime: that of the argument's characters.
constexpr std::string_view Text(berth_str text) {
  const bool is_empty = text.len == 0 || text.ptr == nullptr;
  return is_empty ? std::string_view() : std::string_view(text.ptr, text.len);
}

// Returns true if a plugin passed NULL where it must pass characters. Text() returns "" for it.
constexpr bool IsNull(berth_str text) { return text.ptr == nullptr && text.len != 0; }

constexpr berth_str AsStr(std::string_view text) { return {text.data(), text.size()}; }

// ---- Characters ---------------------------------------------------------------------------------

// These functions handle only ASCII characters and do not depend on the locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr char ToLower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns true for the second and later bytes of a UTF-8 character.
constexpr bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns true for a text of one or more digits.
bool IsNumber(std::string_view text);

// Returns `text` with every ASCII letter in lower case.
std::string ToLower(std::string_view text);

// Returns `text` without the spaces, tabs and line ends at its beginning and at its end.
// Lifetime: that of the argument's characters.
std::string_view TrimSpace(std::string_view text);

// Returns the text with "%41" replaced by "A"; nullopt if a "%" has no two hexadecimal digits after
// it.
std::optional<std::string> DecodePercent(std::string_view text);

// ---- Messages -----------------------------------------------------------------------------------

// Returns the texts with `separator` between them: "a, b, c".
std::string Join(std::span<const std::string> texts, std::string_view separator);

// Returns `text`. If it is longer than `max_bytes`, returns its beginning followed by `mark`, which
// has at most `max_bytes` bytes in all and does not end within a UTF-8 character.
// REQUIRES: mark.size() <= max_bytes.
std::string Truncate(std::string_view text, size_t max_bytes, std::string_view mark);

inline constexpr size_t kMaxQuotedBytes = 64;

// Returns `text` between double quotes, for a message about invalid input. Control characters are
// written as "\x1b". After `max_bytes` bytes, "..." replaces the rest of the text.
std::string Quoted(std::string_view text, size_t max_bytes = kMaxQuotedBytes);

// Returns `text`, which may come from a server or a plugin, as one line: "; " replaces the line
// ends between two lines, and other control characters of ASCII are written as "\x1b".
std::string OneLine(std::string_view text);

// ---- Counts for people --------------------------------------------------------------------------

// Returns `number` with a comma between groups of three digits: "8,152".
std::string WithCommas(uint64_t number);

// Returns a count with its noun: "1 node", "1,204 nodes". The plural of `noun` ends in "s".
std::string CountOf(size_t count, std::string_view noun);

// ---- Suggestions for misspelled names -----------------------------------------------------------

// Returns the number of edits that turn `a` into `b`. An edit inserts, removes or replaces one
// character, or swaps two adjacent characters.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns up to three of `names` that resemble `wanted`: their edit distance is at most a third of
// the length of `wanted` (at least 1), or they contain `wanted`. The nearest names come first;
// equally near names are sorted.
std::vector<std::string> NearMisses(std::string_view wanted, std::span<const std::string> names);

// Returns a text such as "; did you mean a, b or c?"; empty if no name resembles `wanted`.
std::string DidYouMean(std::string_view wanted, std::span<const std::string> names);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TEXT_H_
