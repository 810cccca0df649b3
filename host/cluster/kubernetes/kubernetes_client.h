// The client of a real API server: the implementation of host/cluster/client.h that production
// uses.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CLIENT_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/split_mix.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/watch/cluster_watches.h"
#include "host/cluster/kubernetes/watch/reflector.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/cluster/kubernetes/write/event_sender.h"
#include "host/cluster/kubernetes/write/pod_writer.h"
#include "host/http/transport.h"

namespace berth::host {

// Joins reflectors, pod writer, event sender and the requests of plugins.
//
// Every write needs an open fence, so that a process that does not lead changes nothing: bindings,
// status patches, deletions, events, and requests of plugins that are no GET, HEAD or OPTIONS.
//
// Threading: the methods of DecisionWriter may be called from any thread. StartWatch(), the
//            destruction of a Watch, and Stop() belong to the thread that calls Deliver(): the
//            scheduling thread.
//            Watch events are delivered within Deliver(). Callbacks of requests are called on the
//            thread of the channel that the request uses.
// Lifetime:  what the options and the constructor refer to must outlive it. The owner calls Stop()
//            before it destroys the client, and destroys its watches before.
class KubernetesClient final : public ObjectSource, public DecisionWriter {
 public:
  struct Options {
    Channel reads;   // Lists, watches and discovery.
    Channel writes;  // Bindings, status patches, deletions, and Request().
    Channel events;  // Events. May share the executor of `writes`, not its transport.
    const Clock* wall = nullptr;
    BindFence* fence = nullptr;
    DecodeOptions decode = {};
    uint64_t seed = 0;
    // Called when Deliver() has something to do. Threading: any.
    std::function<void()> wake = {};
    // Returns who needs a kind, for messages: "the host", "the plugin VolumeBinding". May be empty.
    // Threading: that of `reads`.
    std::function<std::string(std::string_view kind)> needed_by = {};
    // See ClusterWatches::Options.
    size_t max_waiting_events = 30'000;
    // `kind`, `field_selector`, `seed` and `needed_by` are set for each kind.
    Reflector::Options reflector = {};
    // How long Refresh() waits for a watch before everything is listed again.
    int64_t refresh_patience_ns = 1'000'000'000;
    PodWriter::Options pods = {};            // `seed` is set.
    EventSender::Options events_queue = {};  // `seed` and `may_send` are set.
    // The requests of plugins that wait or are under way; more fail with kUnavailable.
    size_t max_plugin_requests = 1000;
    int64_t stop_limit_ns = 20'000'000'000;
    // How long of it Stop() waits for events, which only inform: a successor waits for the lease.
    int64_t events_stop_limit_ns = 2'000'000'000;
    // Returns when `is_done` returns true; called by Stop(). Empty: Stop() blocks its thread until
    // the threads of the executors have ended their work. A simulation, whose executors have no
    // threads, runs them here.
    std::function<void(const std::function<bool()>& is_done)> wait = {};
  };

  KubernetesClient(Interner& interner, Options options, Log log);
  // REQUIRES: Stop() was called, and the watches were destroyed.
  ~KubernetesClient() override;
  KubernetesClient(const KubernetesClient&) = delete;
  KubernetesClient& operator=(const KubernetesClient&) = delete;

  // ---- The scheduling thread --------------------------------------------------------------------

  // Delivers the watch events that have arrived. Returns the number of events, errors and tasks.
  // After Stop(), it delivers nothing.
  // Must not: be called from within a delivery. A delivery may call every other method except
  // Stop().
  size_t Deliver();
  // Calls `done` within a later Deliver(), when the watches of these kinds have delivered
  // everything that the server had at the time of this call. A watch that is destroyed meanwhile is
  // not waited for. After Stop(), `done` is not called. Called: after this process became the
  // leader. REQUIRES: the kinds are watched.
  void Refresh(std::span<const std::string_view> kinds, std::function<void()> done);
  // Ends all watches and completes all open requests: with their outcome if it is known, otherwise
  // with kUnavailable. When Stop() returns, no call from the client is running, and none follows,
  // except callbacks of later requests, which fail with kUnavailable. The destructor does not call
  // the callbacks of open requests.
  // Waits at most `stop_limit_ns` for the answers to requests that were sent and for bindings whose
  // outcome is unknown, and at most `events_stop_limit_ns` for events. Does not deliver, and closes
  // no transport. A second call has no effect.
  void Stop();
  // As Stop(), but waits at most `limit_ns`: 0 leaves what is open undecided.
  void Stop(int64_t limit_ns);

  // ---- Any thread -------------------------------------------------------------------------------

  // Return what /readyz, /metrics and doctor show, as of at most one second ago. Watches are in the
  // order in which they were started.
  std::vector<WatchState> Watches() const;
  PodWriterCounts pod_counts() const;
  EventSender::Counts event_counts() const;
  // Returns for how long the authorizer of the server has forbidden every binding; 0 if the last
  // answer about a binding was another one, or if there was none for a minute.
  int64_t bindings_forbidden_ns() const;
  // Returns the number of bindings that were requested and have not ended. A binding is not counted
  // any more when its callback is called.
  size_t open_bindings() const;
  // Returns how many watch events, errors and tasks wait for Deliver().
  size_t waiting_events() const;

  // ---- ObjectSource, DecisionWriter -------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override;
  void CreateEvent(Event event, StatusCallback done) override;
  // Each request is sent once: only the plugin knows whether its request may be repeated.
  void Request(ApiRequest request, ResponseCallback answer) override;

 private:
  class Writes;
  class Events;

  ClusterWatches::Options WatchOptions();

  const Options options_;
  SplitMix64 seeds_;
  ClusterWatches watches_;
  // Each is used on its own thread; the tasks that were posted to it share it.
  const std::shared_ptr<Writes> writes_;
  const std::shared_ptr<Events> events_;
  bool is_stopped_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CLIENT_H_
