// The watches of an API server's client: reflectors on the thread of the reads, whose events are
// delivered on the scheduling thread.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_CLUSTER_WATCHES_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_CLUSTER_WATCHES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/watch/event_mailbox.h"
#include "host/cluster/kubernetes/watch/reflector.h"

namespace berth::host {

// The state of one watch.
struct WatchState {
  std::string kind;
  Reflector::State state = Reflector::State::kDiscovering;
  bool is_synced = false;
  size_t objects = 0;
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
  class Entry;
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
