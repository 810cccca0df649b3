// A scheduler beside another one, which writes nothing: `berth shadow` without its output.
#ifndef BERTH_HOST_PROCESS_SHADOW_SHADOW_RUN_H_
#define BERTH_HOST_PROCESS_SHADOW_SHADOW_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/driver.h"
#include "host/process/assemble/scheduler_host.h"
#include "host/process/shadow/shadow_event.h"
#include "host/process/shadow/shadow_observer.h"

namespace berth::host {

// Connects a SchedulerHost, a ShadowClient and a ShadowObserver over a client that reads a cluster.
// The owner repeats: let the client deliver what it has received, then call Step() while it returns
// true, then wait until NextStepNs() or until the waker of the options is woken, if it is set.
//
// The PostFilter plugins of the profiles do not run: they would evict pods, and a pod that was
// placed fits on a node.
//
// Threading: one thread, the scheduling thread.
class ShadowScheduler {
 public:
  // `cluster` must deliver its events on the scheduling thread. It and `interner` must outlive the
  // object. `cluster` must decode objects with DecodeOptionsFor(*options.plugins). If
  // `observing.scheduler_names` is empty, the pods that name one of the profiles are judged.
  ShadowScheduler(Interner& interner, Client cluster, SchedulerOptions options,
                  ShadowObserver::Options observing, ShadowObserver::Listener listener);

  // Creates the plugins and starts the watches.
  // Called: once.
  // Errors: those of SchedulerHost::Start.
  Status Start();

  // REQUIRES: Start() succeeded. This applies to every method below.

  // Delivers refusals, judges what is due, and settles the scheduler. Returns false if there was
  // nothing to do.
  bool Step();
  // Returns when Step() next has work if no event arrives before; nullopt if it will have none.
  std::optional<int64_t> NextStepNs() const;
  // Judges everything that was received.
  void Finish();

  // Returns whether placements are judged: everything that existed at the start was received.
  bool has_begun() const { return observer_->has_begun(); }
  const ShadowTotals& totals() const { return observer_->totals(); }
  // The number of requests that plugins sent and that were refused.
  size_t refused() const { return client_.refused(); }
  SchedulerHost& host() { return host_; }

 private:
  const Clock& clock_;
  ShadowObserver::Options observing_;
  const ShadowObserver::Listener listener_;
  ShadowClient client_;
  SchedulerHost host_;
  std::optional<ShadowObserver> observer_;  // Set by Start().
};

// The default of log_level is BERTH_LOG_WARN.
struct ShadowRunOptions : ClusterProcessOptions {
  ShadowObserver::Options observing = {};
  // How long the run lasts; nullopt: until a request to stop.
  std::optional<int64_t> duration_ns = {};

  // Receives each decision. Returns false if it could not be written; the run stops then. Must be
  // set. Threading: the scheduling thread. This applies to `flush` too.
  std::function<bool(const ShadowDecision& decision)> on_decision = {};
  // Called when there is time to flush the output. Returns as `on_decision`. Must be set.
  std::function<bool()> flush = {};
};

struct ShadowSummary {
  KubeVersion emulated_version = kNewestKubeVersion;
  ShadowTotals totals;
  size_t refused = 0;  // Requests of plugins that would have written.
  int64_t took_ns = 0;
  bool output_failed = false;
};

// Reads the configuration and connects as a scheduler does, but elects no leader, serves nothing
// and writes nothing: the fence of its client never opens, and ShadowClient refuses every write.
//
// Threading: one thread, the scheduling thread.
// Lifetime:  what the options refer to must outlive it.
class ShadowRun final : private Driver {
 public:
  explicit ShadowRun(ShadowRunOptions options);
  ~ShadowRun() override;

  // Reads everything and connects. Waits for no answer of the API server: a server that is away is
  // logged and tried again.
  // Called: once.
  // Errors: those of ReadRunConfig(), FindClusterAccess(), KubernetesConnection::Open() and
  //         SchedulerHost::Start().
  Status Open();

  // Runs until the duration has ended, a stop is requested, or the output fails. Then judges what
  // was received.
  // Called: once. REQUIRES: Open() succeeded.
  // Errors: kUnavailable if the run ended before the objects of the cluster were received, with
  //         the kinds that could not be read and why.
  Status Run();

  // REQUIRES: Run() has returned.
  ShadowSummary Summary() const;

 private:
  // ---- Rounds ----
  bool IsDone() override;
  bool RunRound() override;
  void Wait() override;

  int64_t NowNs() const { return session_.clock().NowNs(); }
  // Returns when the run ends.
  int64_t EndNs() const;
  void LogBegin();
  // Returns why the objects of the cluster were not received.
  Status NotBegun();

  const ShadowRunOptions options_;
  TransportObserver transports_;
  // The fence of its client is never opened.
  ClusterSession session_;
  const int64_t start_ns_;
  std::optional<ShadowScheduler> scheduler_;
  bool has_begun_ = false;
  int64_t took_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_SHADOW_RUN_H_
