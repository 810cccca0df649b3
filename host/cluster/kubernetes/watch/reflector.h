// Lists and watches the objects of one kind.
//
// client-go: tools/cache/reflector.go
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFLECTOR_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/list_splitter.h"
#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/http/pacing.h"
#include "host/http/transport.h"

namespace berth::host {

// Receives what a reflector finds.
// Threading: the executor's thread.
// Must not:  destroy the reflector.
class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;

  // Events in the order and the form of WatchSink::OnEvents(): one call per list, and one per part
  // of a watch that arrived together.
  virtual void OnEvents(std::vector<WatchEvent> events) = 0;
  // As WatchSink::OnWatchError().
  virtual void OnWatchError(const Status& status) = 0;
};

class UnreadableObjects;

// Counts of a reflector, for metrics.
struct ReflectorCounts {
  uint64_t lists = 0;  // Complete ones, by list or by initial events.
  uint64_t relists_expired = 0;
  uint64_t relists_error = 0;  // After a line that could not be read, or a lagging server.
  uint64_t watches = 0;
  // States of objects that could not be read. A bound pod or a node counts with what can be read;
  // another object keeps its last state.
  uint64_t undecodable = 0;
  int64_t last_event_ns = 0;  // Executor::NowNs() of the last line, bookmarks included.
};

// A state machine. Nothing blocks; every transition follows an answer, a part of a stream or a
// timer.
//
//   kDiscovering -> kListing ------------------> kWatching -> (end of the watch) -> kWatching ...
//                   initial events, or pages        |
//                      ^                            | 410, a gap, a lagging server
//                      +---------- kWaiting <-------+ errors: with a growing, random delay
//
// The first list     with initial events (sendInitialEvents=true,
//                    resourceVersionMatch=NotOlderThan, allowWatchBookmarks=true) if the server
//                    supports them: 400 and 422 mean that it does not, for the life of the process.
//                    Otherwise pages with limit=500 and the resourceVersion "" of a consistent
//                    read. If the initial events end without their bookmark, or go on for longer
//                    than WatchStream::kMaxCollectNs, the next list has pages: some servers never
//                    send it.
//                    kube-scheduler starts with the resourceVersion "0". Berth does not, because a
//                    server that lags behind could show a pod as pending that is bound.
// Another list       not older than what was seen: with initial events, resourceVersion=<last>.
//                    With pages, "" again.
// 410 in a list      with initial events, also 504 with the cause ResourceVersionTooLarge: again at
//                    once without a resourceVersion. A later page: the list starts again, once
//                    without pages.
// A list without     an end, whose pages bring nothing new, is an error with a delay; see
// an end             PageProgress.
// A list that is     older than what was seen: refused, and listed again with a delay. After three
//                    such lists in a row, all of them consistent reads, it is accepted: the storage
//                    of the server was restored from a backup.
// The watch          from the last resourceVersion, with allowWatchBookmarks=true and a random
//                    timeoutSeconds from 300 to 600. Pods have the field selector
//                    status.phase!=Succeeded,status.phase!=Failed.
// Its end            in order: the next watch starts at once from the last resourceVersion. Within
//                    one second and without an event: with a delay. Connection refused or 429: the
//                    same watch after a delay, without a list. Silence for longer than
//                    timeoutSeconds + 30 s, or for 150 s after a bookmark was seen: the connection
//                    is closed and the watch starts again.
// A rotated          client certificate or CA: the connection of the watch is closed, and the watch
//                    starts again at once from the last resourceVersion; see RenewConnection().
// 410 for a watch,   as an answer or as an ERROR event: another list, at once; with a delay if the
//                    watch before ended in this way too.
// Any other error    of a watch, as an answer or as an ERROR event: a delay, then the same watch;
//                    after three in a row, another list.
// A line that is     no event: another list, after a delay that errors of requests do not prolong.
// An older state     of an object than the last one: left out. The watch goes on, and another list
//                    follows after the same delay. A bookmark that is older changes nothing.
// An object that     is reported once with its name, counted, and skipped. Its last good state
// cannot be decoded  stays: a scheduler that dropped a running pod would overcommit its node. This
//                    includes an object that is not UTF-8.
// A bound pod or a   with values that cannot be read is reported once with these values, counted,
// node               and delivered without them; see ObjectReader.
// 403                reported with the missing rule; repeated with the delay.
// 404                Discovery decides whether the kind is served; then kNotServed.
//
// "kSynced" follows the events of the first complete list. After a gap there is no second one.
//
// Threading: the executor's thread.
// Lifetime:  transport, executor, discovery, reader and sink must outlive it.
class Reflector {
 public:
  struct Options {
    std::string kind;  // With one version.
    std::string field_selector = {};
    uint64_t seed = 0;  // The seed of delays and time-outs.
    size_t page = 500;
    RetryDelay::Options delay = {};
    ListSplitter::Limits list_limits = {};
    size_t max_line_bytes = ObjectReader::kMaxLineBytes;
    int64_t head_timeout_ns = 60'000'000'000;  // Until a list or a watch begins to answer.
    int64_t list_silence_ns = 60'000'000'000;
    // Returns who needs a kind, for the message about a missing rule. May be empty.
    std::function<std::string(std::string_view kind)> needed_by = {};
  };

  static std::unique_ptr<Reflector> Create(Transport& transport, Executor& executor,
                                           Discovery& discovery, ObjectReader& reader,
                                           ReflectorSink& sink, Options options, Log log);
  virtual ~Reflector() = default;

  virtual void Start() = 0;

  // Calls `done` when the sink has received a state that the server had after this call: the last
  // write of another leader is part of it. Asks the server for its current resourceVersion with a
  // list of one object; if the watch does not reach it within `patience_ns`, lists everything
  // again. Repeats until it succeeds. If the server does not serve the kind, its state is known.
  // `done` is never called within the call, and is dropped with the reflector.
  virtual void Refresh(int64_t patience_ns, std::function<void()> done) = 0;

  // While it is paused, the watch delivers at most the part that is being read; lists go on. A
  // server that cannot send for too long ends the watch, which then goes on from its last
  // resourceVersion, or with another list.
  // Called: when too many events wait for whom the sink delivers to, also within OnEvents().
  virtual void SetPaused(bool is_paused) = 0;
  // Moves the watch to a new connection if the client certificate or the CA of its connection has
  // rotated; it goes on from the last resourceVersion.
  // Called: often; it costs little otherwise.
  virtual void RenewConnection() = 0;

  enum class State : uint8_t { kDiscovering, kNotServed, kListing, kWatching, kWaiting };
  virtual State state() const = 0;
  virtual bool is_synced() const = 0;
  virtual const ReflectorCounts& counts() const = 0;
  virtual size_t objects() const = 0;
  virtual const UnreadableObjects& unreadable() const = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFLECTOR_H_
