#include "host/api/json_splitter.h"

#include <utility>

#include "host/api/json_syntax.h"
#include "host/base/assert.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Returns whether `c` may occur in a number or in true, false or null.
constexpr bool IsScalarCharacter(char c) {
  return IsDigit(c) || IsLower(c) || c == '-' || c == '+' || c == '.' || c == 'E';
}

}  // namespace

Status JsonSplitter::Append(std::string_view bytes, const Sink& sink) {
  BERTH_ASSERT_MSG(error_.empty(), "%s", error_.c_str());
  size_t begin = 0;  // The first byte of the current object that is not in object_ yet.
  for (size_t at = 0; at < bytes.size();) {
    if (open_.empty()) begin = at;
    at = Take(bytes, at);
    const bool is_within = is_complete_ || !open_.empty();
    if (is_within && object_.text.size() + (at - begin) > max_bytes_) {
      error_ = "expected an object of at most " + std::to_string(max_bytes_) + " bytes, found more";
      return {ErrorCode::kOutOfRange, std::to_string(object_.line) + ": " + error_};
    }
    if (!error_.empty()) return Error(error_);
    if (is_complete_ || (is_within && at == bytes.size())) {
      object_.text.append(bytes.substr(begin, at - begin));
    }
    if (std::exchange(is_complete_, false)) sink(std::exchange(object_, {}));
  }
  return {};
}

Status JsonSplitter::Finish() const {
  if (state_ == State::kStart && mark_bytes_ > 0)
    return Error("expected an object, found the end of the text");
  if (open_.empty()) return {};
  return {
      ErrorCode::kInvalidArgument,
      std::to_string(object_.line) + ": expected the end of the object, found the end of the text"};
}

Status JsonSplitter::Error(std::string_view message) const {
  return {ErrorCode::kInvalidArgument, std::to_string(line_).append(": ").append(message)};
}

void JsonSplitter::Expected(std::string_view what, char found) {
  error_ = "expected ";
  error_.append(what).append(", found ").append(DescribeCharacter(found));
}

size_t JsonSplitter::Take(std::string_view bytes, size_t at) {
  if (state_ == State::kString) return TakeString(bytes, at);
  const char c = bytes[at];
  if (state_ == State::kEscaped) {
    if (static_cast<uint8_t>(c) < ' ') {
      Expected("an escape such as \\n", c);
    } else {
      state_ = State::kString;
    }
    return at + 1;
  }
  if (state_ == State::kStart && TakeByteOrderMark(c)) return at + 1;
  if (state_ == State::kScalar) {
    if (IsScalarCharacter(c)) return at + 1;
    state_ = State::kAfterValue;
  }
  if (IsSpace(c)) {
    if (c == '\n') ++line_;
  } else {
    TakeStructure(c);
  }
  return at + 1;
}

size_t JsonSplitter::TakeString(std::string_view bytes, size_t at) {
  for (; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (c == '"') {
      state_ = in_key_ ? State::kColon : State::kAfterValue;
      return at + 1;
    }
    if (c == '\\') {
      state_ = State::kEscaped;
      return at + 1;
    }
    if (static_cast<uint8_t>(c) < ' ') {
      Expected("a character that is allowed in a string", c);
      return at;
    }
  }
  return at;
}

bool JsonSplitter::TakeByteOrderMark(char c) {
  if (c == kByteOrderMark[mark_bytes_]) {
    if (++mark_bytes_ == kByteOrderMark.size()) state_ = State::kBetween;
    return true;
  }
  state_ = State::kBetween;
  if (mark_bytes_ == 0) return false;
  Expected("an object", kByteOrderMark.front());
  return true;
}

void JsonSplitter::TakeStructure(char c) {
  const bool in_object = !open_.empty() && open_.back() == '{';
  switch (state_) {
    case State::kBetween:
      if (c != '{') return Expected("an object", c);
      object_.line = line_;
      return Open(c);
    case State::kFirstKey:
      if (c == '}') return Close(c);
      [[fallthrough]];
    case State::kKey:
      if (c != '"') return Expected("a key in quotes", c);
      in_key_ = true;
      state_ = State::kString;
      return;
    case State::kColon:
      if (c != ':') return Expected("':'", c);
      state_ = State::kValue;
      return;
    case State::kFirstElement:
      if (c == ']') return Close(c);
      [[fallthrough]];
    case State::kValue: return TakeValue(c);
    default: break;
  }
  if (c == (in_object ? '}' : ']')) return Close(c);
  if (c != ',') return Expected(in_object ? "',' or '}'" : "',' or ']'", c);
  state_ = in_object ? State::kKey : State::kValue;
}

void JsonSplitter::TakeValue(char c) {
  if (c == '{' || c == '[') return Open(c);
  if (c == '"') {
    in_key_ = false;
    state_ = State::kString;
  } else if (IsScalarCharacter(c)) {
    state_ = State::kScalar;
  } else {
    Expected("a JSON value", c);
  }
}

void JsonSplitter::Open(char bracket) {
  open_.push_back(bracket);
  state_ = bracket == '{' ? State::kFirstKey : State::kFirstElement;
}

void JsonSplitter::Close(char bracket) {
  BERTH_ASSERT(open_.back() == (bracket == '}' ? '{' : '['));
  open_.pop_back();
  is_complete_ = open_.empty();
  state_ = is_complete_ ? State::kBetween : State::kAfterValue;
}

}  // namespace berth::host
