// The events of a stream of watch events: reads them, and applies them to the embedded cluster.
#ifndef BERTH_HOST_PROCESS_REPLAY_STREAM_EVENT_H_
#define BERTH_HOST_PROCESS_REPLAY_STREAM_EVENT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/json_splitter.h"
#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cluster/embedded/embedded_cluster.h"

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

// Accepts a stream as a watch sends it: a change may come twice, ADDED may name an object that
// exists, MODIFIED one that does not, DELETED one that has been deleted already. What this
// scheduler decided is kept (see EmbeddedCluster::Put), because the source of the stream does not
// have it.
//
// An object in a resourceVersion that was seen before, or in an older one, changes nothing.
// Versions are compared as numbers if they are numbers (those of Kubernetes are, and they grow); an
// object without a version is always new. A pod that was deleted in this cluster is not created
// again by later events about it.
//
// Threading: the thread that owns the cluster.
// Lifetime:  the cluster must outlive it.
class StreamCluster {
 public:
  // The number of deleted objects that are recorded, so that a repeated event does not create them
  // again. The oldest records are removed first.
  static constexpr size_t kMaxDeleted = 100'000;

  explicit StreamCluster(EmbeddedCluster& cluster, size_t max_deleted = kMaxDeleted)
      : cluster_(cluster), max_deleted_(max_deleted) {}

  // Records that the object was added to the cluster in its resourceVersion.
  void NoteLoaded(const AnyObject& object);

  // Returns true if the event changed anything.
  // Errors: those of EmbeddedCluster::Put. Then nothing has changed.
  Result<bool> Apply(const StreamEvent& event);

 private:
  // The last event of the stream about an object.
  struct Seen {
    std::string version;
    std::string uid;
    bool is_deleted = false;
  };

  Result<bool> Put(StreamType type, const AnyObject& object);
  // Returns true if the event is about an object that was deleted in this cluster and still exists
  // in the source of the stream.
  bool WasDeletedHere(StreamType type, const AnyObject& object, const Seen& seen) const;
  bool Delete(const AnyObject& object);
  static void Record(const AnyObject& object, Seen& seen);
  void RememberDeleted(std::string key);

  EmbeddedCluster& cluster_;
  const size_t max_deleted_;
  StringMap<Seen> seen_;             // Keyed by kind, namespace and name.
  std::deque<std::string> deleted_;  // Keys in the order of the deletions. Some may exist again.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_STREAM_EVENT_H_
