// Observes how another scheduler places pods, decides about the same pods, and reports how often
// both agree: `berth run --shadow`. It writes nothing to the cluster.
#ifndef BERTH_HOST_PROCESS_SHADOW_RUN_H_
#define BERTH_HOST_PROCESS_SHADOW_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/string_map.h"
#include "host/cluster/client.h"
#include "host/cycle/scheduling_loop.h"
#include "host/process/cluster_run.h"
#include "host/process/shadow_judge.h"

namespace berth::host {

// The counts of a shadow run.
struct ShadowTotals {
  std::array<uint64_t, 7> by_verdict = {};  // Indexed by ShadowVerdict.
  uint64_t judged = 0;
  uint64_t unseen = 0;  // Pods that had a node when they were first seen; they are not judged.

  // In per cent, of the judged pods.
  double agreement() const;
  // The share of the judged pods whose verdict is no agreement and has no explanation: kScore,
  // kRejected and kError.
  double unexplained() const;
};

// A client that reads like another client and refuses every write with kUnsupported. An assertion
// fails if a request that would change the cluster reaches the other client's methods: shadow mode
// has no path to a write.
//
// It also gives each event of a pod to `before` ahead of the scheduler, so that a placement is
// judged in the state before it.
class ShadowClient final : public Client {
 public:
  // Called on the scheduling thread for each event of a pod, in order, before the router gets it.
  using BeforePod = std::function<void(const WatchEvent& event)>;

  // `source` must outlive this object.
  ShadowClient(Client& source, BeforePod before);
  ~ShadowClient() override;

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
  // GET is passed on.
  void Request(ApiRequest request, ResponseCallback answer) override;
  void Stop() override;

 private:
  class PodSink;
  struct Refusals;

  Client& source_;
  const BeforePod before_;
  const std::unique_ptr<Refusals> refusals_;
};

// Judges placements while they are observed. The scheduling loop never tries a pod (its owner calls
// Settle() and never Step()): the cache follows the cluster, and for each pod that another
// scheduler binds, the profile of its schedulerName decides in the state just before.
//
// The order of bindings in the watch is the order in which the API server executed them. Another
// scheduler decides earlier, one pod after the other, and sends bindings in parallel, so that two
// bindings may arrive in the other order. A placement whose verdict is kScore or kRejected is
// therefore kept for `order_window_ns` and judged again with the pods counted that arrived within
// it. If one of the states gives kSame or kTie, the verdict is kOrder.
//
// Threading: the scheduling thread.
class ShadowObserver {
 public:
  using Listener = std::function<void(const ShadowDecision& decision)>;
  struct Options {
    int64_t order_window_ns = 1'000'000'000;
    size_t max_kept =
        1000;  // Placements that wait to be judged again; the oldest is reported first.
    // The other scheduler evaluates all nodes: a lower total is kScore, not kSampled.
    bool evaluates_all_nodes = false;
  };

  ShadowObserver(SchedulingLoop& loop, const Clock& clock, const Options& options,
                 Listener listener);

  // As ShadowClient::BeforePod.
  void BeforePod(const WatchEvent& event);
  // Judges again what has waited long enough.
  void Tick();
  // Reports what still waits.
  void Finish();
  const ShadowTotals& totals() const { return totals_; }

 private:
  struct Kept;

  SchedulingLoop& loop_;
  const Clock& clock_;
  const Options options_;
  const Listener listener_;
  ShadowTotals totals_;
  std::deque<Kept> kept_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_RUN_H_
