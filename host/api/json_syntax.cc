#include "host/api/json_syntax.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "host/api/decode_parts.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Returns the first error, if any.
  std::optional<SyntaxError> Scan() {
    for (SkipSpaces(); at_ < text_.size(); SkipSpaces()) {
      if (!ScanValue()) return SyntaxError{at_, message_};
    }
    return std::nullopt;
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipSpaces() { at_ = std::min(text_.find_first_not_of(kJsonSpaces, at_), text_.size()); }

  bool Fail(std::string_view expected) {
    message_ = "expected ";
    message_.append(expected).append(", found ");
    message_ += at_ < text_.size() ? DescribeCharacter(text_[at_]) : "the end of the text";
    return false;
  }

  // Scans one value with everything in it. `open_` holds the brackets that are open.
  bool ScanValue() {
    do {
      bool opened = false;
      if (!ScanBegin(&opened)) return false;
      if (opened) continue;
      if (!ScanEnd()) return false;
    } while (!open_.empty());
    return true;
  }

  // Scans a scalar, or the bracket that begins an object or array. Sets `*opened` if a value must
  // follow.
  bool ScanBegin(bool* opened) {
    SkipSpaces();
    const char c = Peek();
    if (c == '{' || c == '[') {
      ++at_;
      SkipSpaces();
      open_.push_back(c);
      if (Peek() == (c == '{' ? '}' : ']')) return true;
      *opened = true;
      return c == '[' || ScanKey();
    }
    if (c == '"') return ScanString();
    if (c == '-' || IsDigit(c)) return ScanNumber();
    if (c == 't') return ScanWord("true");
    if (c == 'f') return ScanWord("false");
    if (c == 'n') return ScanWord("null");
    return Fail("a JSON value");
  }

  // Scans the text after a value: closing brackets, then a comma or the end of the outermost value.
  // In an object, also scans the key after the comma.
  bool ScanEnd() {
    while (!open_.empty()) {
      SkipSpaces();
      const bool in_object = open_.back() == '{';
      if (Peek() == (in_object ? '}' : ']')) {
        ++at_;
        open_.pop_back();
        continue;
      }
      if (Peek() != ',') return Fail(in_object ? "',' or '}'" : "',' or ']'");
      ++at_;
      SkipSpaces();
      return !in_object || ScanKey();
    }
    return true;
  }

  bool ScanKey() {
    if (Peek() != '"') return Fail("a key in quotes");
    if (!ScanString()) return false;
    SkipSpaces();
    if (Peek() != ':') return Fail("':'");
    ++at_;
    return true;
  }

  bool ScanString() {
    const size_t begin = at_++;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<uint8_t>(c) < ' ') return Fail("a character that is allowed in a string");
      if (c == '\\' && !ScanEscape()) return false;
      ++at_;
    }
    at_ = begin;
    message_ = "the string has no closing quote";
    return false;
  }

  // Leaves the position at the last character of the escape.
  bool ScanEscape() {
    ++at_;
    const char c = Peek();
    if (c != 'u') {
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      return kEscapes.find(c) != kEscapes.npos || Fail("an escape such as \\n");
    }
    for (int32_t i = 0; i < 4; ++i) {
      ++at_;
      if (!IsHexDigit(Peek())) return Fail("four hexadecimal digits");
    }
    return true;
  }

  bool ScanDigits() {
    if (!IsDigit(Peek())) return Fail("a digit");
    while (IsDigit(Peek())) ++at_;
    return true;
  }

  bool ScanNumber() {
    if (Peek() == '-') ++at_;
    if (Peek() == '0') {
      ++at_;
    } else if (!ScanDigits()) {
      return false;
    }
    if (Peek() == '.') {
      ++at_;
      if (!ScanDigits()) return false;
    }
    if (Peek() != 'e' && Peek() != 'E') return true;
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    return ScanDigits();
  }

  bool ScanWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return Fail("a JSON value");
    at_ += word.size();
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string open_;
  std::string message_;
};

// Returns the offset of the first line that is not valid UTF-8.
size_t FindInvalidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (!simdjson::validate_utf8(text.data() + at, end - at)) return at;
    at = end + 1;
  }
  return 0;
}

// ---- Places -------------------------------------------------------------------------------------

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

// Calls each(bracket, at) for each bracket outside of strings, until it returns true.
template <class Each>
void ForEachBracket(std::string_view text, Each each) {
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = SkipString(text, at);
      continue;
    }
    const char c = text[at++];
    if ((c == '{' || c == '[' || c == '}' || c == ']') && each(c, at)) return;
  }
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

std::optional<SyntaxError> FindSyntaxError(std::string_view text) {
  std::optional<SyntaxError> error = Scanner(text).Scan();
  if (simdjson::validate_utf8(text.data(), text.size())) return error;
  const size_t offset = FindInvalidUtf8(text);
  if (error && error->offset < offset) return error;
  return SyntaxError{offset, "expected UTF-8 text"};
}

size_t SkipValue(std::string_view json, size_t at) {
  if (at >= json.size()) return kNone;
  if (json[at] == '"') return SkipString(json, at);
  if (json[at] == '{' || json[at] == '[') return at + EndOfValue(json.substr(at));
  return std::min(json.find_first_of(",]} \t\r\n", at), json.size());
}

size_t EndOfValue(std::string_view text) {
  size_t end = text.size();
  size_t depth = 0;
  ForEachBracket(text, [&](char bracket, size_t after) {
    if (bracket == '{' || bracket == '[') {
      ++depth;
      return false;
    }
    if (depth > 1) {
      --depth;
      return false;
    }
    end = after;
    return true;
  });
  return end;
}

bool IsNestedDeeper(std::string_view text, size_t max_depth) {
  size_t depth = 0;
  ForEachBracket(text, [&](char bracket, size_t /*after*/) {
    if (bracket == '{' || bracket == '[') return ++depth > max_depth;
    if (depth > 0) --depth;
    return false;
  });
  return depth > max_depth;
}

std::string DescribeCharacter(char c) {
  if (c >= ' ' && c < 0x7f) return {'\'', c, '\''};
  return "byte " + std::to_string(static_cast<uint8_t>(c));
}

int32_t LineAt(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<int32_t>(std::ranges::count(before, '\n'));
}

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
