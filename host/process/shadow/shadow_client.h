// The client of shadow mode: reads a cluster, and refuses to write to it.
#ifndef BERTH_HOST_PROCESS_SHADOW_SHADOW_CLIENT_H_
#define BERTH_HOST_PROCESS_SHADOW_SHADOW_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/client.h"

namespace berth::host {

// The receiver of the events of one watch.
struct ShadowRoute {
  WatchSink* sink = nullptr;  // Null after the watch was destroyed: events are dropped then.
};

// Reads a cluster, and answers every request that would write with the error kUnsupported. No code
// of this class passes such a request on.
//
// The events of all watches go to one function instead of to their sinks, so that it can deliver
// them later and in another order.
//
// Threading: that of the cluster. Refusals are delivered by Deliver().
class ShadowClient final : public ObjectSource, public DecisionWriter {
 public:
  // Called on the thread that delivers the events of `cluster`, with each call of a sink. The
  // elements of `events` may be moved from.
  using Receive =
      std::function<void(const std::shared_ptr<ShadowRoute>& route, std::span<WatchEvent> events)>;

  // `cluster` must outlive this object. `wake` is called, on any thread, when Deliver() has
  // something to do; it may be empty.
  ShadowClient(Client cluster, Receive receive, std::function<void()> wake = {});
  ~ShadowClient() override;

  // Calls the callbacks of the requests that were refused. Returns their number.
  // Threading: the scheduling thread. Must not: be called from within a callback.
  size_t Deliver();
  // The number of refused requests. Threading: any.
  size_t refused() const;

  // ---- ObjectSource, DecisionWriter -------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override;
  void CreateEvent(Event event, StatusCallback done) override;
  // Passes GET on and refuses every other verb.
  void Request(ApiRequest request, ResponseCallback answer) override;

 private:
  class RoutedWatch;

  void Refuse(std::string_view what, std::function<void(Status)> answer);

  const Client cluster_;
  const Receive receive_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;                     // Guards the members below.
  std::vector<std::function<void()>> refusals_;  // Callbacks that wait for Deliver().
  size_t refused_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_SHADOW_CLIENT_H_
