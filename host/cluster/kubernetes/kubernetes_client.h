// The client of a real API server: the implementation of host/cluster/client.h that production
// uses.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CLIENT_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CLIENT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/base/clock.h"
#include "host/base/executor.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/bind_fence.h"
#include "host/cluster/kubernetes/event_sender.h"
#include "host/cluster/kubernetes/pod_writer.h"
#include "host/cluster/kubernetes/reflector.h"
#include "host/cluster/kubernetes/transport.h"

namespace berth::host {

// A transport and the executor that it belongs to.
struct Channel {
  Transport* transport = nullptr;
  Executor* executor = nullptr;
};

// Joins reflectors, pod writer, event sender and lease requests.
//
// Threading: the methods of Client may be called from any thread, except StartWatch() and the
//            destruction of a Watch, which the thread that calls Deliver() does: the scheduling
//            thread.
//            Watch events are delivered within Deliver(). Callbacks of requests are called on the
//            thread of the channel that the request uses.
// Lifetime:  what the options and the constructor refer to must outlive it. The owner calls Stop()
//            before it destroys the client, and destroys its watches before.
class KubernetesClient final : public Client {
 public:
  struct Options {
    Channel reads;   // Lists, watches and discovery.
    Channel writes;  // Bindings, status patches, deletions, and Request().
    Channel events;  // Events. May share the executor of `writes`, not its transport.
    Channel leases;  // GetLease() and its siblings.
    const Clock* wall = nullptr;
    BindFence* fence = nullptr;
    DecodeOptions decode;
    uint64_t seed = 0;
    // Called, on any thread, when Deliver() has something to do.
    std::function<void()> wake;
    // Returns who needs a kind, for messages: "the host", "the plugin VolumeBinding". May be empty.
    std::function<std::string(std::string_view kind)> needed_by;
    Reflector::Options reflector;  // `kind`, `field_selector` and `seed` are set for each kind.
    PodWriter::Options pods;
    EventSender::Options events_queue;
    // The requests of plugins that wait or are under way; more fail with kUnavailable.
    size_t max_plugin_requests = 1000;
    int64_t stop_limit_ns = 20'000'000'000;
  };

  KubernetesClient(Interner& interner, Options options, Log log);
  ~KubernetesClient() override;
  KubernetesClient(const KubernetesClient&) = delete;
  KubernetesClient& operator=(const KubernetesClient&) = delete;

  // ---- The scheduling thread --------------------------------------------------------------------

  // Delivers the watch events that have arrived. Returns their number.
  // Must not: be called from within a delivery.
  size_t Deliver();
  // Calls `done` within a later Deliver(), when the watches of these kinds have delivered
  // everything that the server had at the time of this call. Called: after this process became the
  // leader. REQUIRES: the kinds are watched.
  void Refresh(std::span<const std::string_view> kinds, std::function<void()> done);

  // ---- Any thread -------------------------------------------------------------------------------

  struct WatchState {
    std::string kind;
    Reflector::State state = Reflector::State::kDiscovering;
    bool is_synced = false;
    size_t objects = 0;
    ReflectorCounts counts;
    Status error;  // The last one, until the watch works again.
  };
  // For /readyz, /metrics and doctor. As of the last report of each reflector, at most one second
  // old.
  std::vector<WatchState> Watches() const;
  PodWriterCounts pod_counts() const;
  EventSender::Counts event_counts() const;
  size_t waiting_events() const;

  // ---- Client -----------------------------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override;
  void CreateEvent(Event event, StatusCallback done) override;
  void GetLease(std::string_view ns, std::string_view name, ResultCallback<Lease> answer) override;
  void CreateLease(const Lease& lease, ResultCallback<Lease> answer) override;
  void UpdateLease(const Lease& lease, ResultCallback<Lease> answer) override;
  // Requests that write need an open fence.
  void Request(ApiRequest request, ResponseCallback answer) override;
  // Waits at most `stop_limit_ns` for bindings whose outcome is unknown, and for events. Called on
  // the scheduling thread. Does not deliver.
  void Stop() override;

 private:
  class WatchHandle;
  class WatchEntry;
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_KUBERNETES_CLIENT_H_
