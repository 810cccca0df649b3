#include "host/api/list_splitter.h"

#include <utility>

#include "host/api/json_syntax.h"
#include "host/base/assert.h"

namespace berth::host {
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
