// A stream of bytes as the JSON objects that stand in it, one after the other.
#ifndef BERTH_HOST_API_JSON_SPLITTER_H_
#define BERTH_HOST_API_JSON_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

struct JsonText {
  std::string text;  // From its first bracket to its last one.
  int64_t line = 0;  // That it begins on, counted from 1.
};

// Cuts where an object ends: on a line each, over several lines, or without anything between them.
// Bytes come in pieces of any size; an object is passed on with its last bracket, so that nobody
// waits for what comes behind it. A byte order mark at the beginning is skipped.
//
// Brackets, keys, commas and the ends of strings are checked, each byte as it comes, so that a line
// that lacks a bracket is found by the next one and does not swallow the rest. What numbers, words,
// escapes and UTF-8 are made of is for the decoder.
//
// Threading: one thread at a time.
class JsonSplitter {
 public:
  using Sink = std::function<void(JsonText object)>;

  // An object of more than `max_bytes` is refused.
  explicit JsonSplitter(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns: kInvalidArgument ("12: expected ',' or '}', found '{'") and kOutOfRange, with the line
  // in front. What was complete before that place has been passed on; nothing may follow.
  Status Append(std::string_view bytes, const Sink& sink);
  // No more bytes come. Returns: kInvalidArgument within an object.
  Status Finish() const;

 private:
  enum class State : uint8_t {
    kStart,         // Before the first byte.
    kBetween,       // An object, or spaces.
    kFirstKey,      // A key, or the end of the object.
    kKey,           // A key.
    kColon,         // A colon.
    kFirstElement,  // A value, or the end of the array.
    kValue,         // A value.
    kScalar,        // More of a number or word, or what stands behind it.
    kAfterValue,    // A comma, or the end of the object or array.
    kString,        // More of a string, or its end.
    kEscaped,       // The character behind a backslash.
  };

  // Takes bytes[at], and as many behind it as mean the same. Returns where to go on.
  size_t Take(std::string_view bytes, size_t at);
  size_t TakeString(std::string_view bytes, size_t at);
  // False: it is not of a byte order mark.
  bool TakeMark(char c);
  void TakeStructure(char c);
  void TakeValue(char c);
  void Open(char bracket);
  void Close(char bracket);
  void Expected(std::string_view what, char found);
  Status Error(std::string_view message) const;

  const size_t max_bytes_;
  State state_ = State::kStart;
  bool in_key_ = false;       // Of kString.
  bool is_complete_ = false;  // The byte that was just taken ended an object.
  size_t mark_ = 0;           // Bytes of a byte order mark so far.
  int64_t line_ = 1;
  std::string open_;   // The brackets that are open.
  JsonText object_;    // The one that is not complete.
  std::string error_;  // What is wrong; empty: nothing.
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_JSON_SPLITTER_H_
