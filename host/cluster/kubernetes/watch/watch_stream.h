// Reads the answer to one watch request.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_WATCH_STREAM_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_WATCH_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/executor.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/watch/object_index.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/cluster/kubernetes/watch/stream_end.h"

namespace berth::host {

// A watch that may begin with initial events. They are collected until their bookmark, and then
// passed on as one list; the same stream goes on as the watch.
//
// Threading: the executor's thread.
// Lifetime:  what it refers to must outlive it. Its destruction closes the connection without a
//            call of the owner.
class WatchStream final : private StreamSink {
 public:
  // How long initial events are collected, from the head of the answer on, before the stream ends
  // with kEnded. A server that never ends them, but sends changes or bookmarks, is never silent:
  // without this limit the kind would not be synced before the end of the watch. It is twice the
  // time that an API server has for a list, which brings the same objects (its --request-timeout of
  // 60 s); the pages that follow have no such limit.
  static constexpr int64_t kMaxCollectNs = 120'000'000'000;

  struct Options {
    std::string kind;
    size_t max_line_bytes = ObjectReader::kMaxLineBytes;
    bool collects = false;  // The watch begins with initial events.
    // The silence that ends the stream: while initial events are collected, and afterwards until
    // the first bookmark.
    int64_t collect_silence_ns = 0;
    int64_t watch_silence_ns = 0;
  };

  // Threading: the executor's thread.
  // Must not:  destroy the stream, except in OnStreamEnd().
  class Owner {
   public:
    virtual ~Owner() = default;

    // The server has accepted the watch. Not called for initial events.
    virtual void OnWatchHead() = 0;
    // A line has arrived that is no error.
    virtual void OnWatchLine() = 0;
    // Everything up to this resourceVersion has arrived. Its events follow before OnWatchPart().
    virtual void OnVersion(std::string_view version) = 0;
    // The events of a part of the stream that arrived together.
    virtual void OnWatchEvents(std::vector<WatchEvent> events) = 0;
    // A part has been read completely, and the stream goes on.
    virtual void OnWatchPart() = 0;
    // An object cannot be decoded. Returns its last good state; nullopt if there is none.
    virtual std::optional<AnyObject> OnUndecodable(const ObjectMark& mark,
                                                   const Status& status) = 0;
    // The initial events are complete. An error ends the stream with kLagged.
    virtual Status OnInitialEvents(std::vector<AnyObject> objects, const std::string& version) = 0;
    // Called once, last. `was_collecting`: the initial events were not complete. `is_short`: the
    // server ended the watch at once and without a line.
    virtual void OnStreamEnd(StreamEnd end, bool was_collecting, bool is_short) = 0;
  };

  // `index` has the objects that were delivered before. The stream applies each event to it.
  WatchStream(Executor& executor, ObjectReader& reader, ObjectIndex& index, Owner& owner,
              Options options);
  ~WatchStream() override;
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  void Open(Transport& transport, HttpRequest request);
  // See HttpStream::SetPaused(). Initial events are collected also during a pause: their number is
  // limited by that of the objects.
  void SetPaused(bool is_paused);
  // Returns whether the watch should move to a new connection; see HttpStream::IsOutdated().
  // Collecting initial events is not interrupted: the connection is new enough then.
  bool IsOutdated() const { return !is_collecting_ && stream_->IsOutdated(); }

 private:
  void OnHead(const HttpHead& head) override;
  void OnBytes(std::string_view bytes) override;
  void OnEnd(HttpResponse response) override;

  // These methods return why the stream ends, or nullopt if it goes on.
  std::optional<StreamEnd> TakeLine(std::string_view text);
  std::optional<StreamEnd> TakeBookmark(const WatchLine& line);
  std::optional<StreamEnd> TakeObject(WatchLine line);
  void TakeUndecodable(const WatchLine& line);
  void Add(std::optional<WatchEvent> event);
  void End(StreamEnd end);

  Executor& executor_;
  ObjectReader& reader_;
  ObjectIndex& index_;
  Owner& owner_;
  const Options options_;
  LineSplitter splitter_;
  bool is_collecting_;
  bool is_paused_ = false;
  ObjectIndex initial_;             // What the initial events have brought so far.
  std::vector<WatchEvent> events_;  // Events of the part that is being read.
  OwnedTimer collect_timer_;        // The end of kMaxCollectNs.
  int64_t started_ns_ = 0;
  bool has_head_ = false;
  bool has_line_ = false;
  std::unique_ptr<HttpStream> stream_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_WATCH_STREAM_H_
