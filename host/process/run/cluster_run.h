// The scheduler of a real cluster: `berth run` without its output.
#ifndef BERTH_HOST_PROCESS_RUN_CLUSTER_RUN_H_
#define BERTH_HOST_PROCESS_RUN_CLUSTER_RUN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/status.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/client_metrics.h"
#include "host/cluster/kubernetes/watch/cluster_watches.h"
#include "host/cycle/cycle_meter.h"
#include "host/guard/plugin_faults.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/decision_reporter.h"
#include "host/process/run/cluster_driver.h"
#include "host/process/run/leadership.h"
#include "host/serve/endpoints.h"
#include "host/serve/http_server.h"

namespace berth::host {

// --- start memory --------------------------------------------------------------------------------
//
// Gives memory back to the system that only the start of a process needed.

// Drops the process's pages of programs and libraries that are as they are in their files. A page
// that is used again is mapped again, which is a minor page fault while the file is in the page
// cache of the system.
//
// Most of these pages are read only when a process starts: by the dynamic linker, the set-up of
// OpenSSL, the parsers of configuration. They count as resident memory until they are dropped.
//
// Returns the number of mappings whose pages were dropped; 0 if /proc cannot be read.
// Threading: any. Other threads may run the code at the same time.
// Cost: about half a millisecond in a small process; the kernel visits every mapped page. Later
// the page faults.
size_t DropCleanPages();

// Drops clean pages and the free pages of the heap.
// Threading and cost: as DropCleanPages(); an allocation of another thread may wait meanwhile.
void ReleaseUnusedMemory();

// Calls a function that releases unused memory: ReleaseUnusedMemory(). While the cluster is read,
// each kind that becomes complete is an occasion to release the memory that connected and read it,
// before the next kind needs memory. More occasions follow when scheduling has begun, while the
// first bindings open their connections: one at once, and one after each delay, of which each is
// twice as long as the one before. Afterwards there are none.
//
// Threading: one thread at a time.
class StartMemory {
 public:
  // The delays after the begin of scheduling.
  static constexpr int64_t kFirstDelayNs = 10 * kMillisecond;
  static constexpr int64_t kLastDelayNs = 320 * kMillisecond;

  explicit StartMemory(std::function<void()> release) : release_(std::move(release)) {}

  // Called whenever kinds may have become complete, until are_all_complete().
  void OnWatches(std::span<const WatchState> watches) {
    const auto complete =
        static_cast<size_t>(std::ranges::count(watches, true, &WatchState::is_synced));
    are_all_complete_ = !watches.empty() && complete == watches.size();
    if (std::exchange(complete_, complete) != complete) release_();
  }
  bool are_all_complete() const { return are_all_complete_; }

  void OnScheduling(int64_t now_ns) {
    release_();
    delay_ns_ = kFirstDelayNs;
    next_ns_ = now_ns + delay_ns_;
  }
  // Called often.
  void OnTime(int64_t now_ns) {
    if (delay_ns_ == 0 || now_ns < next_ns_) return;
    release_();
    delay_ns_ = delay_ns_ < kLastDelayNs ? 2 * delay_ns_ : 0;
    next_ns_ = now_ns + delay_ns_;
  }

 private:
  const std::function<void()> release_;
  size_t complete_ = 0;
  bool are_all_complete_ = false;
  int64_t delay_ns_ = 0;  // Before the next occasion; 0 if there is none.
  int64_t next_ns_ = 0;
};

// --- cluster serving -----------------------------------------------------------------------------
//
// The health checks and the metrics of a run on a real cluster.

class ClusterDriver;
class ClusterSession;
class SchedulerHost;

// The sources of the answers. Every function may be called on any thread and must not block.
struct ServedState {
  std::function<std::vector<WatchState>()> watches;
  std::function<Leadership::View()> leadership;  // Empty: there is no election.
  std::function<std::vector<PluginFaults::Quarantined>()> quarantined;
  // Returns whether a plugin call that was cancelled has not ended.
  std::function<bool()> has_stuck_call;
  // When the scheduling loop last began a round, by CLOCK_BOOTTIME.
  std::function<int64_t()> last_progress_ns;
  std::function<bool()> is_stopping;
  std::function<std::string()> plugin_metrics;
  std::function<void()> refresh_metrics;  // Called before the metrics are read.
  // Changes the level of the log. `level` is as Endpoints::Sources::set_log_level receives it.
  std::function<Status(std::string_view level)> set_log_level;
};

// Returns the state of a process that runs. The arguments must outlive it. `leadership` is null if
// there is no election.
ServedState ServedStateOf(ClusterSession& session, const SchedulerHost& scheduler,
                          const ClusterDriver& driver, const Leadership* leadership,
                          ClientMetrics& metrics);

// Serves the checks that serve/endpoints.h lists. The server listens before the process connects to
// the API server, so that probes answer from then on; /readyz fails until SetState().
//
// Threading: created, changed and destroyed on one thread. The answers are made on the thread of
//            the HTTP server.
// Lifetime:  what the constructor receives must outlive it.
class ClusterServing {
 public:
  struct Options {
    std::string version = {};  // Of Berth: "0.1.0".
    // leaseDuration. A leader whose last renewal is older than this and 20 seconds fails the check
    // leaderElection. (kube-scheduler: cmd/kube-scheduler/app/options, NewLeaderHealthzAdaptor)
    int64_t lease_ns = 0;
    int64_t stall_limit_ns = 2 * kMinute;  // The limit of schedulingLoop.
    std::function<int64_t()> steady_ns;
    std::function<int64_t()> boot_ns;  // CLOCK_BOOTTIME.
  };

  ClusterServing(MetricTable& metrics, Options options);

  // Called at most once. Errors: those of HttpServer::Listen().
  Status Listen(std::string_view address, Log log);
  // Returns the address with the port; empty if the server does not listen.
  std::string address() const { return server_ != nullptr ? server_->address() : ""; }

  // Sets what the answers are made of.
  void SetState(std::optional<ServedState> state);
  // Removes it: no function of the state is running when this returns, and none is called
  // afterwards. /readyz fails from then on.
  void ClearState() { SetState(std::nullopt); }

  ServedResponse Answer(const ServedRequest& request) const { return endpoints_.Answer(request); }

 private:
  using Check = Status (ClusterServing::*)() const;

  // A check without `at_start` has no finding while there is no state; otherwise it fails then.
  void AddCheck(std::string name, HealthPaths paths, Check check, bool at_start = false);
  Status CheckSync() const;
  Status CheckElection() const;
  Status CheckLease() const;
  Status CheckLoop() const;
  Status CheckPlugins() const;
  Status CheckShutdown() const;

  const Options options_;
  Health health_;
  Endpoints endpoints_;
  mutable std::mutex mutex_;
  std::optional<ServedState> state_;    // Guarded by mutex_.
  std::unique_ptr<HttpServer> server_;  // Last: its thread uses the others.
};

// Returns why the watch delays or disturbs scheduling: "v1/Pod: the first list is under way (500
// objects so far)". Ok if it does not. For the check sched-handler-sync.
Status CheckWatch(const WatchState& watch);

// The default of log_level is BERTH_LOG_INFO.
struct ClusterRunOptions : ClusterProcessOptions {
  // Nullopt: the value of the host file, or its default.
  std::optional<bool> leader_elect = {};
  std::optional<std::string> http_address = {};  // "" serves nothing.

  std::string version = {};    // Of Berth: "0.1.0".
  std::string host_name = {};  // Of this machine.
  std::string uuid = {};       // A random one, for the identity of the lease.

  std::function<int64_t()> boot_ns = {};  // CLOCK_BOOTTIME. Threading: any.
  // Receives each decision, in addition to the log. Returns false if it could not be written, which
  // ends the run. May be empty.
  std::function<bool(const DecisionLine& line)> on_decision = {};
  // There is time to flush the output. Returns false if it could not be written. May be empty.
  std::function<bool()> flush = {};
};

struct ClusterRunSummary {
  std::string lost_lease;  // Why the lease was lost; empty if it was not.
  bool output_failed = false;
};

// Opens the parts of the process in this order: host file, profiles and plugins; log; access to the
// cluster; the HTTP server, so that probes answer from then on; credentials and connection; client;
// the scheduler, whose watches start; at the beginning of Run() the election. Standby processes
// keep their watches and their cache, so that a take-over is quick.
//
// A reload applies to profiles, plugins, deadlines of new calls, and logLevel. The kinds that new
// plugins declare are watched from then on.
//
// Everything is reported in the log, except the errors of Open().
//
// Threading: one thread, the scheduling thread.
// Lifetime:  what the options refer to must outlive it.
class ClusterRun final : private ClusterDriver {
 public:
  explicit ClusterRun(ClusterRunOptions options);
  ~ClusterRun() override;

  // Reads everything and connects. Waits for no answer of the API server: a server that is away is
  // logged and tried again, as kube-scheduler does. A request to stop ends the process meanwhile; a
  // reload that is requested is carried out at the beginning of Run().
  // Called: once.
  // Errors: those of ReadRunConfig(), FindClusterAccess(), HttpServer::Listen(),
  //         KubernetesConnection::Open() and SchedulerHost::Start().
  Status Open();

  // Runs until a request to stop, a lost lease, or an output that cannot be written ends the run.
  // After a request to stop it settles, stops the client, which flushes events, and releases the
  // lease, in this order. This takes at most 26 seconds, because a pod gets 30 by default.
  // Called: once. REQUIRES: Open() succeeded.
  ClusterRunSummary Run();

  // Returns the address of the HTTP server; empty if there is none.
  // REQUIRES: Open() succeeded.
  std::string http_address() const { return serving_->address(); }

 private:
  // ---- Opening ----
  Status OpenServing();
  Status Connect(const ClusterAccess& access);
  Status OpenScheduler();

  // ---- Rounds ----
  size_t Deliver() override { return session_.client().Deliver(); }
  void Refresh(std::function<void()> done) override;
  bool HasRoom() const override;
  void BeforeStep() override;
  void AfterStep() override;
  void OnScheduling(int64_t took_ns) override;

  // ---- Start and end ----
  void Lead();
  void End();

  const ClusterRunOptions options_;
  const std::string identity_;  // In the election.
  // The members are destroyed in the reverse order: each one outlives those after it, which use it.
  MetricTable metrics_;
  ClientMetrics client_metrics_{metrics_};
  SchedulerMetrics scheduler_metrics_{metrics_};
  ClusterSession session_;  // Reports to client_metrics_ until its connections are closed.
  std::optional<ElectionOptions> election_;  // Not set: there is no election.
  std::string first_profile_;                // Its schedulerName at the start.
  std::optional<ClusterServing> serving_;
  std::optional<DecisionReporter> reporter_;  // Set if options_.on_decision is.
  std::optional<SchedulerHost> scheduler_;
  std::optional<Leadership> leadership_;  // Not set: there is no election.
  StartMemory start_memory_{ReleaseUnusedMemory};
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_CLUSTER_RUN_H_
