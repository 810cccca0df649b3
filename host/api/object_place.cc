#include "host/api/object_place.h"

#include <algorithm>
#include <charconv>

#include "host/api/decode_parts.h"
#include "host/api/json_syntax.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kMaxShown = 253;  // The longest name of an object.

size_t SkipSpaces(std::string_view json, size_t at) {
  return std::min(json.find_first_not_of(kJsonSpaces, at), json.size());
}

// Returns the offset after the closing quote of the string at json[at], or kNone if it has none.
size_t SkipString(std::string_view json, size_t at) {
  for (++at; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      return at + 1;
    }
  }
  return kNone;
}

// Returns the offset after the value at json[at], or kNone if the value does not end.
size_t SkipValue(std::string_view json, size_t at) {
  if (at >= json.size()) return kNone;
  if (json[at] == '"') return SkipString(json, at);
  if (json[at] == '{' || json[at] == '[') return at + EndOfValue(json.substr(at));
  return std::min(json.find_first_of(",]} \t\r\n", at), json.size());
}

// Skips the value at json[at] and the comma after it. Returns the offset of the next element or
// member, or kNone if there is none.
size_t SkipElement(std::string_view json, size_t at) {
  at = SkipValue(json, at);
  if (at == kNone) return kNone;
  at = SkipSpaces(json, at);
  return at < json.size() && json[at] == ',' ? SkipSpaces(json, at + 1) : kNone;
}

// Returns the offset of the value of the member `key` of the value at json[at], or kNone.
size_t FindMember(std::string_view json, size_t at, std::string_view key) {
  if (at >= json.size() || json[at] != '{') return kNone;
  at = SkipSpaces(json, at + 1);
  while (at < json.size() && json[at] == '"') {
    const size_t end = SkipString(json, at);
    if (end == kNone) return kNone;
    const bool found = json.substr(at + 1, end - at - 2) == key;
    at = SkipSpaces(json, end);
    if (at >= json.size() || json[at] != ':') return kNone;
    at = SkipSpaces(json, at + 1);
    if (found) return at < json.size() ? at : kNone;
    at = SkipElement(json, at);
  }
  return kNone;
}

// Returns the offset of the element with this index of the value at json[at], or kNone.
size_t FindElement(std::string_view json, size_t at, std::string_view index) {
  size_t left = 0;
  const char* end = index.data() + index.size();
  const auto [parsed, error] = std::from_chars(index.data(), end, left);
  if (error != std::errc() || parsed != end) return kNone;
  at = SkipSpaces(json, at + 1);
  for (; left > 0 && at < json.size(); --left) at = SkipElement(json, at);
  return at < json.size() && json[at] != ']' ? at : kNone;
}

// Returns the text of the string that is the member `key` of the value at json[at]; "" if there is
// no such string, or if it is not UTF-8.
std::string_view TextOf(std::string_view json, size_t at, std::string_view key) {
  const size_t begin = FindMember(json, at, key);
  if (begin == kNone || json[begin] != '"') return "";
  const size_t end = SkipString(json, begin);
  if (end == kNone) return "";
  const std::string_view text = json.substr(begin + 1, end - begin - 2);
  return simdjson::validate_utf8(text) ? text : "";
}

}  // namespace

size_t FindPlace(std::string_view json, std::string_view pointer) {
  size_t at = SkipSpaces(json, 0);
  for (const std::string& segment : SegmentsOf(pointer)) {
    const bool in_array = at < json.size() && json[at] == '[';
    const size_t next = in_array ? FindElement(json, at, segment) : FindMember(json, at, segment);
    if (next == kNone) break;
    at = next;
  }
  return at;
}

std::vector<std::string> SegmentsOf(std::string_view pointer) {
  std::vector<std::string> segments;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const std::string_view segment = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(segment.size());
    std::string& key = segments.emplace_back();
    for (size_t i = 0; i < segment.size(); ++i) {
      const bool escape = segment[i] == '~' && i + 1 < segment.size();
      key.push_back(!escape ? segment[i] : segment[++i] == '1' ? '/' : '~');
    }
  }
  return segments;
}

bool HasMember(std::string_view json, std::string_view key) {
  return FindMember(json, SkipSpaces(json, 0), key) != kNone;
}

std::string_view PointerOf(std::string_view message) {
  if (!message.starts_with('/')) return "";
  const size_t end = message.find(": ");
  return end == kNone ? "" : message.substr(0, end);
}

std::string DescribeObject(std::string_view json, std::string_view list_type) {
  const size_t root = SkipSpaces(json, 0);
  const size_t metadata = FindMember(json, root, "metadata");
  std::string_view kind = TextOf(json, root, "kind");
  std::string type = std::string(TextOf(json, root, "apiVersion")).append(1, '/').append(kind);
  if (kind.empty()) {
    type = list_type;
    kind = list_type.substr(list_type.rfind('/') + 1);
  }
  std::string described = Truncate(kind, kMaxShown, "...");
  const std::string_view name = TextOf(json, metadata, "name");
  if (name.empty()) return described;
  if (!described.empty()) described += ' ';
  std::string_view ns = TextOf(json, metadata, "namespace");
  if (ns.empty() && HasNamespace(type)) ns = "default";
  if (!ns.empty()) described.append(Truncate(ns, kMaxShown, "...")).append(1, '/');
  return described.append(Truncate(name, kMaxShown, "..."));
}

}  // namespace berth::host
