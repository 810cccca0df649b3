// One line of a stream of watch events.
#ifndef BERTH_HOST_PROCESS_STREAM_EVENT_H_
#define BERTH_HOST_PROCESS_STREAM_EVENT_H_

#include <cstdint>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/json_splitter.h"
#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

enum class StreamType : uint8_t {
  kAdded,
  kModified,
  kDeleted,
  kBookmark,  // Says how far a watch has come; nothing has changed.
  kDecision,  // What a scheduler decided when this was recorded; nothing has changed.
};

// "ADDED"
std::string_view StreamTypeName(StreamType type);

struct StreamEvent {
  StreamType type = StreamType::kBookmark;
  int64_t after_ns = 0;  // Since the line before; not negative. 0 where the line does not say.
  // Of what changes something; null otherwise.
  AnyObject object;
  std::string_view object_json;  // The text of `object`.
};

// Reads {"type":"ADDED","object":{...}}, with an optional "after":"1.5s". Any order of the keys,
// others than these are refused: a typing error would move the line in time. Of a DECISION and of a
// BOOKMARK nothing but the type and the time is looked at; they may have any other keys.
//
// Returns: as Decoder, with the line in front:
//   12: /object/spec/priority: expected an integer, found "high"
//   12: expected a digit, found ','
// An ERROR, with which a server ends a watch, is kUnavailable with its message.
// Lifetime: object_json that of `text`.
Result<StreamEvent> ReadStreamEvent(const JsonText& text, Decoder& decoder);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_STREAM_EVENT_H_
