// Reads one event of a stream of watch events.
#ifndef BERTH_HOST_PROCESS_REPLAY_STREAM_EVENT_H_
#define BERTH_HOST_PROCESS_REPLAY_STREAM_EVENT_H_

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
  kBookmark,  // The position of a watch. It changes nothing.
  kDecision,  // A recorded decision of a scheduler. It changes nothing.
  // An attempt of a recorded scheduler. It changes nothing; StreamDriver tries a pod at this place.
  kAttempt,
};

// "ADDED"
std::string_view StreamTypeName(StreamType type);

struct StreamEvent {
  StreamType type = StreamType::kBookmark;
  int64_t after_ns = 0;  // The time since the event before; not negative. 0 if it is not given.
  AnyObject object;      // Null for kBookmark, kDecision and kAttempt.
  std::string_view object_json;  // The text of `object`.
  // Why the event cannot be applied; ok if it can. If it is an error, only after_ns is set, and
  // only if it could be read.
  Status rejection = {};
};

// Reads {"type":"ADDED","object":{...}}, with an optional "after":"1.5s". The keys may have any
// order. Other keys are refused, because a misspelt "after" would change the time of the event. For
// DECISION, ATTEMPT and BOOKMARK only the type and the time are read, and other keys are allowed.
//
// A text that is an event, but is malformed or has an object that cannot be decoded, is returned
// with a `rejection`. The line of the value and the object are in front of its message:
//   12: Pod default/web: /object/spec/priority: expected an integer, found "high"
//   12: Pod default/web: expected a digit, found ','
// Errors:   with the line in front:
//           kUnsupported for a text that lacks "type" or "object" and is therefore no event.
//           kUnavailable, with the server's message, for an ERROR event, which ends a watch.
// Lifetime: object_json is valid as long as `text`.
Result<StreamEvent> ReadStreamEvent(const JsonText& text, Decoder& decoder);

// Returns true for an event with an object of the cluster.
constexpr bool HasObject(StreamType type) {
  return type == StreamType::kAdded || type == StreamType::kModified ||
         type == StreamType::kDeleted;
}

// Returns an error with the line and the object in front, as in a rejection. `error` may begin with
// a JSON pointer from the root of the event. If it does not, the line is that of the object.
Status PlaceInEvent(const JsonText& text, const Status& error);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_STREAM_EVENT_H_
