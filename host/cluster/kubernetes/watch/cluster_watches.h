// The watches of an API server's client: reflectors on the thread of the reads, whose events are
// delivered on the scheduling thread.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_CLUSTER_WATCHES_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_CLUSTER_WATCHES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "host/api/decode.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/sample.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/watch/reflector.h"
#include "host/http/transport.h"

namespace berth::host {

// Passes watch events from the thread of the reflectors to the scheduling thread. Keeps the order
// within each watch, and the events of one call together. It refuses nothing: when
// it is full, its owner pauses the watches, so that a scheduling thread that does not deliver does
// not let the process grow without limit.
//
// Threading: Put*() any thread; the other methods the scheduling thread.
class EventMailbox {
 public:
  using WatchId = uint64_t;

  // `wake` is called when something is put into an empty mailbox. Threading: any.
  // `limit`: the mailbox is full when at least so many events, errors and tasks wait. `on_room` is
  // called within Deliver(), at its end, if the mailbox was full.
  EventMailbox(std::function<void()> wake, size_t limit, std::function<void()> on_room);

  // Registers the sink of a watch. From Remove() on, its events are dropped. Both may be called
  // within a delivery, also by the sink itself.
  WatchId Add(WatchSink& sink);
  void Remove(WatchId watch);

  // Returns whether the mailbox is full now; `on_room` follows then.
  bool PutEvents(WatchId watch, std::vector<WatchEvent> events);
  void PutError(WatchId watch, Status status);
  // Runs the task on the scheduling thread, after everything that was put before.
  void PutTask(std::function<void()> task);

  // Delivers what was put before the call. Returns the number of events, errors and tasks,
  // including those of watches that were removed.
  // Must not: be called from within a delivery.
  size_t Deliver();
  // Returns how many events, errors and tasks wait; for metrics. Threading: any.
  size_t waiting() const;

 private:
  // A call of one of the Put methods.
  struct Item {
    WatchId watch = 0;  // 0 for a task.
    std::variant<std::vector<WatchEvent>, Status, std::function<void()>> content;

    size_t size() const;
  };

  bool Put(Item item);
  void DeliverOne(Item& item);

  const std::function<void()> wake_;
  const size_t limit_;
  const std::function<void()> on_room_;
  mutable std::mutex mutex_;
  std::vector<Item> items_;  // Guarded by mutex_.
  size_t waiting_ = 0;       // Guarded by mutex_.
  bool was_full_ = false;    // Guarded by mutex_. Since the last Deliver().
  // The fields below are used by the scheduling thread alone.
  std::unordered_map<WatchId, WatchSink*> sinks_;
  WatchId last_ = 0;
  bool is_delivering_ = false;
};

// The state of one watch.
struct WatchState {
  std::string kind;
  Reflector::State state = Reflector::State::kDiscovering;
  bool is_synced = false;
  size_t objects = 0;
  // The objects whose present state cannot be read as a whole; see UnreadableObjects::Read().
  Sample unreadable = {};
  ReflectorCounts counts = {};
  // How long the server has sent nothing, not even a bookmark. 0 before the first line.
  int64_t silence_ns = 0;
  // The last error, until the watch works again; also that of the question whether the server
  // serves the kind.
  Status error = {};
};

// One reflector for each watch. Every watch of a process shares the decoder and the discovery.
//
// Threading: the scheduling thread, except States() and waiting(), which any thread may call.
// Lifetime:  interner, channel and log must outlive it. The owner calls Stop(), and waits for its
//            end, before it destroys the object.
class ClusterWatches {
 public:
  // The texts of objects are released from the decoder this often, so that Interner::Sweep() can
  // free them, also if no list arrives.
  static constexpr int64_t kReleaseNs = 60'000'000'000;
  // How often States() is renewed.
  static constexpr int64_t kReportNs = 1'000'000'000;

  struct Options {
    Channel channel;
    DecodeOptions decode;
    uint64_t seed = 0;
    // Called when Deliver() has something to do. Threading: any.
    std::function<void()> wake;
    Reflector::Options reflector;  // `kind`, `field_selector` and `seed` are set for each kind.
    // See Reflector::Refresh().
    int64_t refresh_patience_ns = 0;
    // The watches pause while at least so many events wait for Deliver(); see
    // Reflector::SetPaused(). A part of a watch, and a list, may exceed the limit. An event of a
    // pod keeps a few kilobytes.
    size_t max_waiting = 30'000;
  };

  ClusterWatches(Interner& interner, Options options, Log log);
  ~ClusterWatches();
  ClusterWatches(const ClusterWatches&) = delete;
  ClusterWatches& operator=(const ClusterWatches&) = delete;

  // As ObjectSource::StartWatch(). After Stop(), the watch receives nothing.
  [[nodiscard]] std::unique_ptr<Watch> Start(std::string_view kind, WatchSink& sink);
  // Calls `done` within a later Deliver(), when the watches of these kinds have delivered
  // everything that the server had at the time of this call. A watch that is destroyed meanwhile is
  // not waited for. After Stop(), `done` is not called.
  // REQUIRES: the kinds are watched.
  void Refresh(std::span<const std::string_view> kinds, std::function<void()> done);
  // As EventMailbox::Deliver(). After Stop(), it delivers nothing.
  size_t Deliver();
  // Ends all watches. Releases `end` when nothing runs on the thread of the reads any more. Called
  // once. Must not: be called from within a delivery.
  void Stop(std::shared_ptr<void> end);

  // Returns the watches in the order in which they were started, as of at most kReportNs ago.
  std::vector<WatchState> States() const;
  // Returns how many watch events, errors and tasks wait for Deliver().
  size_t waiting() const;

 private:
  class Handle;
  class Reads;

  void End(EventMailbox::WatchId watch);

  const std::shared_ptr<Reads> reads_;  // The tasks on the thread of the reads share it.
  // The kinds of the watches that were not destroyed.
  std::map<EventMailbox::WatchId, std::string> kinds_;
  bool is_stopped_ = false;
  bool is_delivering_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_CLUSTER_WATCHES_H_
