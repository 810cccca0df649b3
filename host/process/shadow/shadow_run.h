// A scheduler beside another one, on a real cluster: `berth shadow` without its output.
#ifndef BERTH_HOST_PROCESS_SHADOW_SHADOW_RUN_H_
#define BERTH_HOST_PROCESS_SHADOW_SHADOW_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/base/status.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/shadow/shadow_observer.h"
#include "host/process/shadow/shadow_scheduler.h"

namespace berth::host {

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
class ShadowRun {
 public:
  explicit ShadowRun(ShadowRunOptions options);
  ~ShadowRun();
  ShadowRun(const ShadowRun&) = delete;
  ShadowRun& operator=(const ShadowRun&) = delete;

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
  class Rounds;

  Status OpenScheduler();
  void LogBegin();
  // Returns why the objects of the cluster were not received.
  Status NotBegun();

  const ShadowRunOptions options_;
  TransportObserver transports_;
  // The fence of its client is never opened.
  ClusterSession session_;
  const int64_t start_ns_;
  const std::unique_ptr<Rounds> driver_;
  std::unique_ptr<ShadowScheduler> scheduler_;
  bool has_begun_ = false;
  int64_t took_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_SHADOW_RUN_H_
