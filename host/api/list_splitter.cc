#include "host/api/list_splitter.h"

#include <utility>

#include "host/api/json_syntax.h"
#include "host/base/assert.h"
#include "host/base/text.h"

namespace berth::host {

// --- json splitter -------------------------------------------------------------------------------

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

namespace {

// The brackets that are open between two items: that of the list, and that of the array.
constexpr uint32_t kDepthOfItems = 2;

bool IsJsonSpace(char c) { return kJsonSpaces.find(c) != std::string_view::npos; }

}  // namespace

Status ListSplitter::Append(std::string_view bytes, const Sink& sink) {
  BERTH_ASSERT(error_.ok());
  if (bytes.size() > limits_.total_bytes - bytes_) TooLarge("a list", limits_.total_bytes);
  for (size_t at = 0; at < bytes.size() && error_.ok();) {
    switch (where_) {
      case Where::kStart:
        if (bytes[at] == '{') {
          where_ = Where::kTopLevel;
          depth_ = 1;
          rest_ = "{";
        } else if (!IsJsonSpace(bytes[at])) {
          Expected("'{'", bytes[at], at);
        }
        ++at;
        break;
      case Where::kTopLevel: at = TakeTopLevel(bytes, at); break;
      case Where::kItems:
        // The first byte of an item is processed by TakeItem().
        if (bytes[at] == '{' && !needs_comma_) {
          where_ = Where::kItem;
          break;
        }
        TakeBetweenItems(bytes[at], at);
        ++at;
        break;
      case Where::kItem: at = TakeItem(bytes, at, sink); break;
      case Where::kAfter:
        if (!IsJsonSpace(bytes[at])) Expected("the end of the text", bytes[at], at);
        ++at;
        break;
    }
  }
  bytes_ += bytes.size();
  return error_;
}

Result<std::string> ListSplitter::Finish() {
  BERTH_ASSERT(error_.ok());
  if (where_ == Where::kAfter) return std::move(rest_);
  return Status::InvalidArgument("item " + std::to_string(items_) + ", byte " +
                                 std::to_string(bytes_) +
                                 ": expected the rest of the list, found the end of the text");
}

size_t ListSplitter::TakeString(std::string_view bytes, size_t at) {
  for (; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return at + 1;
    }
  }
  return at;
}

size_t ListSplitter::TakeTopLevel(std::string_view bytes, size_t at) {
  const size_t begin = at;
  if (in_string_) {
    at = TakeString(bytes, at);
    const size_t end = in_string_ ? at : at - 1;
    if (depth_ == 1 && !is_value_) key_.append(bytes.substr(begin, end - begin));
  } else {
    TakeTopLevelByte(bytes[at], at);
    ++at;
  }
  rest_.append(bytes.substr(begin, at - begin));
  if (rest_.size() > limits_.rest_bytes) {
    TooLarge("the part of a list beside its items", limits_.rest_bytes);
  }
  return at;
}

void ListSplitter::TakeTopLevelByte(char c, size_t at) {
  const bool is_items = depth_ == 1 && is_value_ && key_ == "items";
  switch (c) {
    case '"':
      if (is_items) return Expected("an array of items", c, at);
      in_string_ = true;
      if (depth_ == 1 && !is_value_) key_.clear();
      return;
    case '{':
    case '[':
      if (is_items && c == '{') return Expected("an array of items", c, at);
      ++depth_;
      if (!is_items) return;
      where_ = Where::kItems;
      needs_comma_ = false;
      needs_item_ = false;
      return;
    case '}':
    case ']':
      if (depth_ == 1 && c == ']') return Expected("'}'", c, at);
      if (--depth_ == 0) where_ = Where::kAfter;
      return;
    case ':':
      if (depth_ == 1) is_value_ = true;
      return;
    case ',':
      if (depth_ == 1) is_value_ = false;
      return;
    default: return;
  }
}

void ListSplitter::TakeBetweenItems(char c, size_t at) {
  if (IsJsonSpace(c)) return;
  if (c == ']' && !needs_item_) {
    rest_.push_back(c);
    --depth_;
    where_ = Where::kTopLevel;
  } else if (c == ',' && needs_comma_) {
    needs_comma_ = false;
    needs_item_ = true;
  } else {
    Expected(needs_comma_ ? "',' or ']'" : needs_item_ ? "an item" : "an item or ']'", c, at);
  }
}

size_t ListSplitter::TakeItem(std::string_view bytes, size_t at, const Sink& sink) {
  const size_t begin = at;
  bool is_complete = false;
  while (at < bytes.size() && !is_complete) {
    if (in_string_) {
      at = TakeString(bytes, at);
      continue;
    }
    const char c = bytes[at++];
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      is_complete = --depth_ == kDepthOfItems;
      if (is_complete && c != '}') Expected("'}'", c, at - 1);
    }
  }
  if (item_.size() + (at - begin) > limits_.item_bytes) TooLarge("an item", limits_.item_bytes);
  if (!error_.ok()) return at;
  if (is_complete) {
    Pass(bytes, begin, at, sink);
  } else {
    item_.append(bytes.substr(begin, at - begin));
  }
  return at;
}

void ListSplitter::Pass(std::string_view bytes, size_t begin, size_t end, const Sink& sink) {
  where_ = Where::kItems;
  needs_comma_ = true;
  needs_item_ = false;
  ++items_;
  const std::string_view last = bytes.substr(begin, end - begin);
  if (item_.empty() && bytes.size() - end >= kPadding) {
    error_ = sink(last);
    return;
  }
  item_.append(last);
  const size_t size = item_.size();
  item_.append(kPadding, '\0');
  error_ = sink(std::string_view(item_).substr(0, size));
  item_.clear();
}

void ListSplitter::Expected(std::string_view expected, char found, size_t at) {
  std::string message = "item " + std::to_string(items_) + ", byte " + std::to_string(bytes_ + at);
  message.append(": expected ").append(expected).append(", found ");
  error_ = Status::InvalidArgument(message.append(DescribeCharacter(found)));
}

void ListSplitter::TooLarge(std::string_view what, size_t limit) {
  std::string message = "item " + std::to_string(items_) + ": expected ";
  message.append(what).append(" of at most ").append(std::to_string(limit));
  error_ = Status::OutOfRange(message.append(" bytes, found more"));
}

}  // namespace berth::host
