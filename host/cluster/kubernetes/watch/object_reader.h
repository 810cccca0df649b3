// Decodes the items of lists and the lines of watches.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_OBJECT_READER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_OBJECT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/list_splitter.h"
#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/answers/api_error.h"

namespace berth::host {

// The names of an object and of its state, as far as they can be read.
struct ObjectMark {
  std::string ns;
  std::string name;
  std::string resource_version;

  // Returns "namespace/name", or "name" without a namespace; empty if there is no name.
  std::string Key() const;
};

// One line of a watch.
struct WatchLine {
  enum class Type : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

  Type type = Type::kUnknown;
  // For kAdded, kModified and kDeleted, if decode_error is ok.
  AnyObject object;
  // Why the object cannot be decoded, with a JSON pointer; or that the type is unknown.
  Status decode_error;
  // The values of `object` that cannot be read and count as absent; see ObjectReader.
  Status problems;
  // For an object that cannot be decoded, and for kUnknown.
  ObjectMark mark;
  std::string resource_version;      // That of the object or bookmark; empty for kError.
  bool ends_initial_events = false;  // kBookmark with the annotation k8s.io/initial-events-end.
  ServerStatus error;                // For kError.
};

// The reader returns a bound pod or a node without the values that cannot be read: a pod that holds
// room on its node must count, and a node must stay usable. See DecodeOptions::skip_unreadable.
//
// Threading: one thread at a time. One reader serves all watches of a thread: it owns the simdjson
//            parser and the decoder, whose buffers are reused.
class ObjectReader {
 public:
  // An object of DecodeOptions::max_object_bytes, and the event around it.
  static constexpr size_t kMaxLineBytes = size_t{17} << 20;

  ObjectReader(Interner& interner, const DecodeOptions& options);
  ~ObjectReader();

  // Reads one line, without its line end. `kind` is that of the watch. An object that cannot be
  // decoded, is not UTF-8 or has another kind, and an event of an unknown type, do not end the
  // watch: they are a line with a decode_error.
  // REQUIRES: ListSplitter::kPadding bytes after the line can be read.
  // Errors: kInvalidArgument: the line is no event, or has text after it.
  Result<WatchLine> ReadLine(std::string_view line, std::string_view kind);

  // Decodes an item of a list. Items of built-in kinds have neither kind nor apiVersion, so the
  // reader adds those of `kind`.
  // REQUIRES: ListSplitter::kPadding bytes after the item can be read.
  // Errors: those of Decoder.
  Result<AnyObject> ReadItem(std::string_view item, std::string_view kind);
  // Returns Ok, or the values of the last item that cannot be read and count as absent.
  Status problems() const { return decoder_.problems(); }
  // Reads what names an item that cannot be decoded. Never fails: what cannot be read is empty. In
  // an item that is not UTF-8, bytes outside of ASCII count as "?".
  // REQUIRES: ListSplitter::kPadding bytes after the item can be read.
  ObjectMark ReadMark(std::string_view item);

  // The part of a list beside its items.
  struct ListMeta {
    std::string resource_version;
    std::string continue_token;
    int64_t remaining = 0;
  };
  // Errors: kInvalidArgument for what is no list of the API: its `kind` does not end with "List",
  //         or it has no resourceVersion.
  static Result<ListMeta> ReadListMeta(std::string_view list_without_items);

  // Releases the ids that the decoder keeps for reuse, so that Interner::Sweep() can free them.
  // Called: after each list, and once a minute.
  void ReleaseIds();

 private:
  // ReadLine() for a line of any form.
  Result<WatchLine> ReadAnyLine(std::string_view line, std::string_view kind);

  Decoder decoder_;
};

// Splits a watch into lines. The JSON of an API server contains no line break within an event, so
// that the splitter only searches for line ends, which is several times faster than JsonSplitter.
// Threading: one thread at a time.
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Appends bytes, and calls `sink(line)` for each complete line that is not empty. The line is
  // followed by ListSplitter::kPadding readable bytes. `sink` returns false to stop: the bytes
  // after the line are dropped then.
  // Errors: kOutOfRange for a line of more than max_bytes.
  // Must not: be called again after an error.
  template <class Sink>
  Status Append(std::string_view bytes, const Sink& sink) {
    for (size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
      const std::string_view last = bytes.substr(0, end);
      if (last.size() > max_bytes_ - rest_.size()) return TooLong();
      bytes.remove_prefix(end + 1);
      if (rest_.empty() && bytes.size() >= ListSplitter::kPadding) {
        if (!last.empty() && !sink(last)) return {};
        continue;
      }
      rest_.append(last);
      const size_t size = rest_.size();
      rest_.append(ListSplitter::kPadding, '\0');
      const bool goes_on = size == 0 || sink(std::string_view(rest_).substr(0, size));
      rest_.clear();
      if (!goes_on) return {};
    }
    if (bytes.size() > max_bytes_ - rest_.size()) return TooLong();
    rest_.append(bytes);
    return {};
  }
  // Returns whether bytes of a line without its end remain.
  bool has_rest() const { return !rest_.empty(); }

 private:
  Status TooLong() const {
    return Status::OutOfRange("expected a line of at most " + std::to_string(max_bytes_) +
                              " bytes, found more");
  }

  const size_t max_bytes_;
  std::string rest_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_OBJECT_READER_H_
