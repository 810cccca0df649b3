// Splits the JSON text of a list, as an API server sends it, into its items while it arrives.
#ifndef BERTH_HOST_API_LIST_SPLITTER_H_
#define BERTH_HOST_API_LIST_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// Reads one list object: {"kind":"PodList","apiVersion":"v1","metadata":{...},"items":[...]}. The
// keys may have any order. Each element of the array "items" at the top level is passed on as soon
// as its last bracket arrives, and its text is dropped afterwards, so that the memory does not grow
// with the list. Finish() returns everything else at the top level as a small object with an empty
// array "items".
//
// The splitter checks the brackets and commas around the items, and that strings end. The decoder
// checks the items.
//
// Threading: one thread at a time.
class ListSplitter {
 public:
  struct Limits {
    size_t item_bytes = size_t{17} << 20;  // The largest item; see DecodeOptions.
    size_t rest_bytes = size_t{64} << 10;  // The text beside the items.
    size_t total_bytes = size_t{2} << 30;  // The whole text.
  };
  // The text is followed by kPadding readable bytes, so that the decoder need not copy it. An error
  // that the sink returns ends the list.
  static constexpr size_t kPadding = 64;
  using Sink = std::function<Status(std::string_view item)>;

  explicit ListSplitter(const Limits& limits) : limits_(limits) {}

  // Appends bytes and calls `sink` for each item that they complete.
  // Errors: kInvalidArgument for text that is no such list, with the number of the item and of the
  //         byte, both counted from 0; kOutOfRange for a text that exceeds a limit; those of the
  //         sink.
  // Must not: be called again after an error.
  Status Append(std::string_view bytes, const Sink& sink);
  // Called at the end of the body. Returns the object with an empty array "items".
  // Errors: kInvalidArgument if the list is not complete.
  Result<std::string> Finish();
  // Returns the number of items that were passed on.
  size_t items() const { return items_; }

 private:
  enum class Where : uint8_t { kStart, kTopLevel, kItems, kItem, kAfter };

  // These methods process the bytes from `at` on, and return the index of the next byte to process.
  size_t TakeString(std::string_view bytes, size_t at);
  size_t TakeTopLevel(std::string_view bytes, size_t at);
  size_t TakeItem(std::string_view bytes, size_t at, const Sink& sink);
  void TakeBetweenItems(char c, size_t at);
  void TakeTopLevelByte(char c, size_t at);
  void Pass(std::string_view bytes, size_t begin, size_t end, const Sink& sink);
  void Expected(std::string_view expected, char found, size_t at);
  void TooLarge(std::string_view what, size_t limit);

  const Limits limits_;
  Where where_ = Where::kStart;
  bool in_string_ = false;
  bool is_escaped_ = false;   // The last byte was a backslash within a string.
  bool is_value_ = false;     // At the top level: a colon was read after the key.
  bool needs_comma_ = false;  // Between items: an item was read, and no comma after it.
  bool needs_item_ = false;   // Between items: a comma was read, and no item after it.
  uint32_t depth_ = 0;        // Open brackets, the list's own included.
  std::string rest_;          // The top level without the items.
  std::string item_;          // The beginning of an item that is not complete.
  std::string key_;           // The key that was read last at the top level.
  size_t items_ = 0;
  size_t bytes_ = 0;  // The number of bytes before the current piece.
  Status error_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_LIST_SPLITTER_H_
