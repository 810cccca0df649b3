// Splits a stream of bytes into the JSON objects that it contains.
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
  std::string text;  // The object from its first bracket to its last bracket.
  int64_t line = 0;  // The line on which the object begins, counted from 1.
};

// Splits the stream at the end of each object. Objects may be on one line each, may span several
// lines, or may follow each other without a separator. The bytes may arrive in pieces of any size.
// An object is passed on as soon as its last bracket arrives, without waiting for later bytes. A
// byte order mark at the beginning is skipped.
//
// The splitter checks brackets, keys, commas and the ends of strings byte by byte. A line that
// lacks a bracket is therefore reported at the next line, and does not absorb the rest of the
// stream. The decoder checks numbers, the words true, false and null, escapes and UTF-8.
//
// Threading: one thread at a time.
class JsonSplitter {
 public:
  using Sink = std::function<void(JsonText object)>;

  // Objects of more than `max_bytes` are rejected.
  explicit JsonSplitter(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Appends bytes and calls `sink` for each object that they complete.
  // Errors: kInvalidArgument ("12: expected ',' or '}', found '{'") and kOutOfRange; the message
  // begins with the line. Objects that were complete before that place have been passed to `sink`.
  // Must not: be called again after an error.
  Status Append(std::string_view bytes, const Sink& sink);
  // Called at the end of the stream.
  // Errors: kInvalidArgument if an object is not complete.
  Status Finish() const;
  // Returns true if the beginning of an object has been appended, and its end has not.
  bool within_object() const { return !open_.empty(); }

 private:
  // The token that the splitter expects next.
  enum class State : uint8_t {
    kStart,         // Before the first byte.
    kBetween,       // An object or white space.
    kFirstKey,      // A key, or the end of the object.
    kKey,           // A key.
    kColon,         // A colon.
    kFirstElement,  // A value, or the end of the array.
    kValue,         // A value.
    kScalar,        // The rest of a number or word, or the text after it.
    kAfterValue,    // A comma, or the end of the object or array.
    kString,        // The rest of a string, or its end.
    kEscaped,       // The character after a backslash.
  };

  // Processes bytes[at], and within a string the bytes up to its end or the next backslash. Returns
  // the index of the next byte to process.
  size_t Take(std::string_view bytes, size_t at);
  size_t TakeString(std::string_view bytes, size_t at);
  // Returns false if `c` does not belong to a byte order mark.
  bool TakeByteOrderMark(char c);
  void TakeStructure(char c);
  void TakeValue(char c);
  void Open(char bracket);
  void Close(char bracket);
  void Expected(std::string_view what, char found);
  Status Error(std::string_view message) const;

  const size_t max_bytes_;
  State state_ = State::kStart;
  bool in_key_ = false;       // Whether the string of kString is a key.
  bool is_complete_ = false;  // Whether the last processed byte ended an object.
  size_t mark_bytes_ = 0;     // The number of bytes of a byte order mark processed so far.
  int64_t line_ = 1;
  std::string open_;   // The brackets that are open.
  JsonText object_;    // The object that is not complete yet.
  std::string error_;  // The message of the error; empty if there was none.
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_JSON_SPLITTER_H_
