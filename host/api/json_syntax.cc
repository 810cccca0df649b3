#include "host/api/json_syntax.h"

#include <simdjson.h>

#include <algorithm>

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

  void SkipSpaces() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

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

}  // namespace

std::optional<SyntaxError> FindSyntaxError(std::string_view text) {
  std::optional<SyntaxError> error = Scanner(text).Scan();
  if (simdjson::validate_utf8(text.data(), text.size())) return error;
  const size_t offset = FindInvalidUtf8(text);
  if (error && error->offset < offset) return error;
  return SyntaxError{offset, "expected UTF-8 text"};
}

size_t EndOfValue(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth <= 1) return at + 1;
      --depth;
    }
  }
  return text.size();
}

bool IsNestedDeeper(std::string_view text, size_t max_depth) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '{' || c == '[')) {
      if (++depth > max_depth) return true;
    } else if (!in_string && (c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

std::string DescribeCharacter(char c) {
  if (c >= ' ' && c < 0x7f) return {'\'', c, '\''};
  return "byte " + std::to_string(static_cast<uint8_t>(c));
}

int32_t LineAt(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<int32_t>(std::ranges::count(before, '\n'));
}

}  // namespace berth::host
